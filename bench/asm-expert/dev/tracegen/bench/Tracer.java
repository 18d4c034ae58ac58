package dev.tracegen.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.Attribute;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.TypePath;

/** Rewrites classes: a call at every entry and before every return and every athrow that the method does not catch. */
final class Tracer {
    static final int API = Opcodes.ASM9;

    /** A traced method, and the class it is in. */
    record Method(int access, String owner, String name, String descriptor) {}

    private final String runtime;
    private final boolean smart;

    Tracer(String runtime, boolean smart) {
        this.runtime = runtime;
        this.smart = smart;
    }

    /** The methods for which {@link #rewrite} will ask for an ID, in that order. */
    List<Method> scan(byte[] bytes) {
        List<Method> found = new ArrayList<>();
        ClassReader reader = new ClassReader(bytes);
        int flags = ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES;
        Visitor visitor = new Visitor(null, () -> 0, found);
        reader.accept(visitor, smart ? flags : flags | ClassReader.SKIP_CODE);
        if (!smart && visitor.accessors) {
            // Only for these few methods the code must be read.
            found.clear();
            reader.accept(new Visitor(null, () -> 0, found), flags);
        }
        return found;
    }

    /** Returns the class with calls, or null if none of its methods is traced. */
    byte[] rewrite(byte[] bytes, IntSupplier ids, List<Method> traced) {
        int before = traced.size();
        ClassReader reader = new ClassReader(bytes);
        // Sharing the reader's pool lets the writer copy methods that are not touched.
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new Visitor(writer, ids, traced), 0);
        return traced.size() == before ? null : writer.toByteArray();
    }

    /** Returns a visitor that inserts the calls and adds each traced method to the list before it asks for its ID. */
    ClassVisitor visitor(ClassVisitor next, IntSupplier ids, List<Method> traced) {
        return new Visitor(next, ids, traced);
    }

    private final class Visitor extends ClassVisitor {
        private final IntSupplier ids;
        private final List<Method> traced;
        private String owner;
        private boolean skipped;
        private boolean accessors;

        Visitor(ClassVisitor next, IntSupplier ids, List<Method> traced) {
            super(API, next);
            this.ids = ids;
            this.traced = traced;
        }

        @Override
        public void visit(int version, int access, String name, String signature, String superName,
                String[] interfaces) {
            owner = name;
            skipped = (access & Opcodes.ACC_MODULE) != 0 || name.startsWith("dev/tracegen/runtime/");
            super.visit(version, access, name, signature, superName, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            boolean accessor = name.startsWith("access$") && (access & Opcodes.ACC_STATIC) != 0
                    && (access & Opcodes.ACC_SYNTHETIC) != 0;
            if (skipped || (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE)) != 0
                    || name.endsWith("$$forInline")) {
                return next;
            }
            accessors |= accessor;
            Method method = new Method(access, owner, name, descriptor);
            if (smart || accessor) {
                return new SmallMethod(next, method, accessor);
            }
            traced.add(method);
            return next == null ? null : new Calls(next, ids.getAsInt());
        }

        /**
         * Holds a method's first instructions back until it is known whether the method is trivial, or an accessor that
         * does nothing but one access to a member. For most methods that is decided at their first call.
         */
        private final class SmallMethod extends MethodVisitor {
            private final MethodVisitor plain;
            private final Method method;
            private List<Runnable> held;
            private final List<Label> seen = new ArrayList<>();
            private int instructions;
            private final boolean accessor;
            private boolean accessed;
            private boolean called;

            SmallMethod(MethodVisitor plain, Method method, boolean accessor) {
                super(API, null);
                this.plain = plain;
                this.method = method;
                this.accessor = accessor;
            }

            @Override
            public void visitCode() {
                held = new ArrayList<>();
            }

            private void trace() {
                if (held == null) {
                    return;
                }
                traced.add(method);
                if (plain != null) {
                    mv = new Calls(plain, ids.getAsInt());
                    mv.visitCode();
                }
                release();
            }

            private void release() {
                List<Runnable> events = held;
                held = null;
                if (mv != null) {
                    events.forEach(Runnable::run);
                }
            }

            private void instruction(boolean trivial) {
                instruction(trivial, !accessor);
            }

            private void instruction(boolean trivialIfSmart, boolean trivialInAccessor) {
                boolean trivial = accessor ? trivialInAccessor : trivialIfSmart;
                if (held != null && (!trivial || ++instructions > 12)) {
                    trace();
                }
            }

            @Override
            public void visitMaxs(int maxStack, int maxLocals) {
                if (accessor && !accessed) {
                    trace();
                }
                if (held != null) {
                    mv = plain;
                    if (mv != null) {
                        mv.visitCode();
                    }
                    release();
                }
                super.visitMaxs(maxStack, maxLocals);
            }

            @Override
            public AnnotationVisitor visitAnnotation(String d, boolean v) {
                return plain == null ? null : plain.visitAnnotation(d, v);
            }

            @Override
            public AnnotationVisitor visitAnnotationDefault() {
                return plain == null ? null : plain.visitAnnotationDefault();
            }

            @Override
            public AnnotationVisitor visitTypeAnnotation(int r, TypePath p, String d, boolean v) {
                return plain == null ? null : plain.visitTypeAnnotation(r, p, d, v);
            }

            @Override
            public void visitAnnotableParameterCount(int n, boolean v) {
                if (plain != null) {
                    plain.visitAnnotableParameterCount(n, v);
                }
            }

            @Override
            public AnnotationVisitor visitParameterAnnotation(int p, String d, boolean v) {
                return plain == null ? null : plain.visitParameterAnnotation(p, d, v);
            }

            @Override
            public void visitAttribute(Attribute a) {
                if (plain != null) {
                    plain.visitAttribute(a);
                }
            }

            @Override
            public void visitParameter(String n, int a) {
                if (plain != null) {
                    plain.visitParameter(n, a);
                }
            }

            @Override
            public void visitEnd() {
                if (plain != null) {
                    plain.visitEnd();
                }
            }

            private boolean hold(Runnable event) {
                if (held != null) {
                    held.add(event);
                    return true;
                }
                return false;
            }

            @Override
            public void visitFrame(int t, int nl, Object[] l, int ns, Object[] s) {
                // The reader reuses its arrays.
                Object[] locals = l == null ? null : l.clone();
                Object[] stack = s == null ? null : s.clone();
                if (held == null) {
                    super.visitFrame(t, nl, l, ns, s);
                } else {
                    hold(() -> super.visitFrame(t, nl, locals, ns, stack));
                }
            }

            @Override
            public void visitInsn(int op) {
                instruction(op != Opcodes.ATHROW && op != Opcodes.MONITORENTER && op != Opcodes.MONITOREXIT,
                        op >= Opcodes.POP && op <= Opcodes.SWAP || op >= Opcodes.IRETURN && op <= Opcodes.RETURN);
                if (!hold(() -> super.visitInsn(op))) {
                    super.visitInsn(op);
                }
            }

            @Override
            public void visitIntInsn(int op, int operand) {
                instruction(op != Opcodes.NEWARRAY);
                if (!hold(() -> super.visitIntInsn(op, operand))) {
                    super.visitIntInsn(op, operand);
                }
            }

            @Override
            public void visitVarInsn(int op, int index) {
                instruction(true, op <= Opcodes.ALOAD);
                if (!hold(() -> super.visitVarInsn(op, index))) {
                    super.visitVarInsn(op, index);
                }
            }

            @Override
            public void visitTypeInsn(int op, String type) {
                instruction(op != Opcodes.NEW && op != Opcodes.ANEWARRAY, op == Opcodes.CHECKCAST);
                if (!hold(() -> super.visitTypeInsn(op, type))) {
                    super.visitTypeInsn(op, type);
                }
            }

            @Override
            public void visitFieldInsn(int op, String of, String name, String desc) {
                instruction(op == Opcodes.GETFIELD || op == Opcodes.PUTFIELD || of.equals(owner), !accessed);
                accessed = true;
                if (!hold(() -> super.visitFieldInsn(op, of, name, desc))) {
                    super.visitFieldInsn(op, of, name, desc);
                }
            }

            @Override
            public void visitMethodInsn(int op, String of, String name, String desc, boolean itf) {
                boolean superCall = method.name.equals("<init>") && name.equals("<init>") && !of.equals(owner);
                boolean delegation = of.equals(owner) && (op == Opcodes.INVOKESTATIC || op == Opcodes.INVOKESPECIAL);
                instruction(!called && (superCall || delegation), !accessed);
                accessed = true;
                called = true;
                if (!hold(() -> super.visitMethodInsn(op, of, name, desc, itf))) {
                    super.visitMethodInsn(op, of, name, desc, itf);
                }
            }

            @Override
            public void visitInvokeDynamicInsn(String n, String d, Handle h, Object... args) {
                instruction(false);
                super.visitInvokeDynamicInsn(n, d, h, args);
            }

            @Override
            public void visitJumpInsn(int op, Label label) {
                instruction(!seen.contains(label));
                if (!hold(() -> super.visitJumpInsn(op, label))) {
                    super.visitJumpInsn(op, label);
                }
            }

            @Override
            public void visitLabel(Label label) {
                if (held != null) {
                    seen.add(label);
                    hold(() -> super.visitLabel(label));
                } else {
                    super.visitLabel(label);
                }
            }

            @Override
            public void visitLdcInsn(Object value) {
                instruction(!(value instanceof ConstantDynamic));
                if (!hold(() -> super.visitLdcInsn(value))) {
                    super.visitLdcInsn(value);
                }
            }

            @Override
            public void visitIincInsn(int index, int by) {
                instruction(true);
                if (!hold(() -> super.visitIincInsn(index, by))) {
                    super.visitIincInsn(index, by);
                }
            }

            @Override
            public void visitTableSwitchInsn(int min, int max, Label dflt, Label... labels) {
                instruction(true);
                if (!hold(() -> super.visitTableSwitchInsn(min, max, dflt, labels))) {
                    super.visitTableSwitchInsn(min, max, dflt, labels);
                }
            }

            @Override
            public void visitLookupSwitchInsn(Label dflt, int[] keys, Label[] labels) {
                instruction(true);
                if (!hold(() -> super.visitLookupSwitchInsn(dflt, keys, labels))) {
                    super.visitLookupSwitchInsn(dflt, keys, labels);
                }
            }

            @Override
            public void visitMultiANewArrayInsn(String d, int dims) {
                instruction(false);
                super.visitMultiANewArrayInsn(d, dims);
            }

            @Override
            public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
                if (!hold(() -> super.visitTryCatchBlock(start, end, handler, type))) {
                    super.visitTryCatchBlock(start, end, handler, type);
                }
            }

            @Override
            public void visitLocalVariable(String n, String d, String sig, Label from, Label to, int index) {
                if (!hold(() -> super.visitLocalVariable(n, d, sig, from, to, index))) {
                    super.visitLocalVariable(n, d, sig, from, to, index);
                }
            }

            @Override
            public void visitLineNumber(int line, Label start) {
                if (!hold(() -> super.visitLineNumber(line, start))) {
                    super.visitLineNumber(line, start);
                }
            }
        }
    }

    /** Inserts the calls. */
    private final class Calls extends MethodVisitor {
        private final int id;
        /** The number of protected ranges that open (+) or close (-) at a label; null if the method has no handler. */
        private Map<Label, Integer> ranges;
        private int open;

        Calls(MethodVisitor next, int id) {
            super(API, next);
            this.id = id;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            call("i");
        }

        private void call(String name) {
            if (id <= 5) {
                mv.visitInsn(Opcodes.ICONST_0 + id);
            } else if (id <= Byte.MAX_VALUE) {
                mv.visitIntInsn(Opcodes.BIPUSH, id);
            } else if (id <= Short.MAX_VALUE) {
                mv.visitIntInsn(Opcodes.SIPUSH, id);
            } else {
                mv.visitLdcInsn(id);
            }
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, runtime, name, "(I)V", false);
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
            if (ranges == null) {
                ranges = new HashMap<>();
            }
            ranges.merge(start, 1, Integer::sum);
            ranges.merge(end, -1, Integer::sum);
            super.visitTryCatchBlock(start, end, handler, type);
        }

        @Override
        public void visitLabel(Label label) {
            if (ranges != null) {
                open += ranges.getOrDefault(label, 0);
            }
            super.visitLabel(label);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN || opcode == Opcodes.ATHROW && open == 0) {
                call("o");
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            // One more than before is always enough, and needs no computation.
            super.visitMaxs(maxStack + 1, maxLocals);
        }
    }
}
