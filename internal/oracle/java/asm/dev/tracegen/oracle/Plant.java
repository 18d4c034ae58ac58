package dev.tracegen.oracle;

import static org.objectweb.asm.Opcodes.ACC_ABSTRACT;
import static org.objectweb.asm.Opcodes.ACC_NATIVE;
import static org.objectweb.asm.Opcodes.ASM9;
import static org.objectweb.asm.Opcodes.BIPUSH;
import static org.objectweb.asm.Opcodes.ICONST_0;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.IRETURN;
import static org.objectweb.asm.Opcodes.RETURN;
import static org.objectweb.asm.Opcodes.SIPUSH;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;

/**
 * Instruments a jar in the mode {@code normal}, with a fault planted on demand. The faults show that the oracles report
 * faults.
 *
 * <p>{@code Plant IN OUT RUNTIME FAULT}. Methods are numbered from 1 in the order of the jar. The
 * faults are: {@code none}; {@code stack}, {@code max_stack} stays as it was; {@code frame}, frames of
 * the full kind get one more local; {@code id}, an exit reports the next method's ID; {@code missing},
 * the last return of a method has no exit; {@code twice}, the first return has two; {@code entry},
 * there is a second entry behind the first instruction.
 */
public final class Plant {
    private Plant() {
    }

    /** See the class comment. */
    public static void main(String[] args) throws IOException {
        int next = 1;
        try (ZipFile in = new ZipFile(args[0]);
                OutputStream file = Files.newOutputStream(Paths.get(args[1]));
                ZipOutputStream out = new ZipOutputStream(file)) {
            for (ZipEntry e : Collections.list(in.entries())) {
                byte[] bytes;
                try (InputStream s = in.getInputStream(e)) {
                    bytes = s.readAllBytes();
                }
                out.putNextEntry(new ZipEntry(e.getName()));
                if (e.getName().endsWith(".class")) {
                    Injector injector = new Injector(bytes, args[2], args[3], next);
                    bytes = injector.run();
                    next = injector.next;
                }
                out.write(bytes);
            }
        }
    }

    private static final class Injector extends ClassVisitor {
        private final ClassReader reader;
        private final ClassWriter writer;
        private final String runtime;
        private final String fault;
        private final Map<String, Integer> returns = new HashMap<>();
        int next;

        Injector(byte[] bytes, String runtime, String fault, int next) {
            super(ASM9);
            reader = new ClassReader(bytes);
            writer = new ClassWriter(0);
            cv = writer;
            this.runtime = runtime;
            this.fault = fault;
            this.next = next;
        }

        byte[] run() {
            reader.accept(new ClassVisitor(ASM9) {
                @Override
                public MethodVisitor visitMethod(
                        int access, String name, String desc, String sig, String[] thrown) {
                    return new MethodVisitor(ASM9) {
                        @Override
                        public void visitInsn(int op) {
                            if (op >= IRETURN && op <= RETURN) {
                                returns.merge(name + desc, 1, Integer::sum);
                            }
                        }
                    };
                }
            }, 0);
            reader.accept(this, fault.equals("frame") ? ClassReader.EXPAND_FRAMES : 0);
            return writer.toByteArray();
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String desc, String sig, String[] thrown) {
            MethodVisitor mv = super.visitMethod(access, name, desc, sig, thrown);
            if ((access & (ACC_ABSTRACT | ACC_NATIVE)) != 0) {
                return mv;
            }
            return new Body(mv, this, next++, returns.getOrDefault(name + desc, 0));
        }
    }

    private static final class Body extends MethodVisitor {
        private final Injector to;
        private final int id;
        private final int returns;
        private int seen;
        private boolean started;

        Body(MethodVisitor mv, Injector to, int id, int returns) {
            super(ASM9, mv);
            this.to = to;
            this.id = id;
            this.returns = returns;
        }

        private void call(String name, int which) {
            push(which);
            super.visitMethodInsn(INVOKESTATIC, to.runtime, name, "(I)V", false);
        }

        private void push(int n) {
            if (n <= 5) {
                mv.visitInsn(ICONST_0 + n);
            } else if (n <= Byte.MAX_VALUE) {
                mv.visitIntInsn(BIPUSH, n);
            } else if (n <= Short.MAX_VALUE) {
                mv.visitIntInsn(SIPUSH, n);
            } else {
                mv.visitLdcInsn(n);
            }
        }

        @Override
        public void visitCode() {
            super.visitCode();
            call("i", id);
        }

        @Override
        public void visitVarInsn(int op, int var) {
            super.visitVarInsn(op, var);
            if (!started && to.fault.equals("entry")) {
                call("i", id);
            }
            started = true;
        }

        @Override
        public void visitFrame(int type, int locals, Object[] local, int stack, Object[] items) {
            if (to.fault.equals("frame") && locals > 0) {
                Object[] longer = Arrays.copyOf(local, locals + 1);
                longer[locals] = "java/lang/Thread";
                super.visitFrame(type, locals + 1, longer, stack, items);
                return;
            }
            super.visitFrame(type, locals, local, stack, items);
        }

        @Override
        public void visitInsn(int op) {
            if (op >= IRETURN && op <= RETURN) {
                seen++;
                boolean skip = to.fault.equals("missing") && seen == returns;
                if (!skip) {
                    call("o", to.fault.equals("id") ? id + 1 : id);
                }
                if (to.fault.equals("twice") && seen == 1) {
                    call("o", id);
                }
            }
            super.visitInsn(op);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            super.visitMaxs(to.fault.equals("stack") ? stack : stack + 1, locals + 1);
        }
    }
}
