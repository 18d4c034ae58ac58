import static org.objectweb.asm.Opcodes.*;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;

/**
 * Writes classes that no compiler of today makes: with jsr and ret, and with branches that reach almost as far as
 * they can when calls have been inserted. Assembled calls their methods.
 */
public final class Assemble {
    /** The distance that a short branch covers, with room for calls: it is 32,767 with them. */
    private static final int REACH = 32000;

    private Assemble() {
    }

    public static void main(String[] args) throws IOException {
        Path out = Paths.get(args[0]);
        Files.createDirectories(out);
        Files.write(out.resolve("Subroutines.class"), subroutines());
        Files.write(out.resolve("Twice.class"), twice());
        Files.write(out.resolve("Far48.class"), far("Far48", V1_4));
        Files.write(out.resolve("Far52.class"), far("Far52", V1_8));
    }

    private static ClassWriter begin(String name, int version) {
        return begin(name, version, "java/lang/Object");
    }

    private static ClassWriter begin(String name, int version, String superName) {
        ClassWriter w = new ClassWriter(version >= V1_7 ? ClassWriter.COMPUTE_FRAMES : ClassWriter.COMPUTE_MAXS);
        w.visit(version, ACC_PUBLIC | ACC_SUPER, name, null, superName, null);
        return w;
    }

    private static MethodVisitor method(ClassWriter w, String name, String descriptor) {
        MethodVisitor m = w.visitMethod(ACC_PUBLIC | ACC_STATIC, name, descriptor, null, null);
        m.visitCode();
        return m;
    }

    private static void end(MethodVisitor m) {
        m.visitMaxs(0, 0);
        m.visitEnd();
    }

    private static void call(MethodVisitor m, String owner, String name, String descriptor) {
        m.visitMethodInsn(INVOKESTATIC, owner, name, descriptor, false);
    }

    private static byte[] subroutines() {
        ClassWriter w = begin("Subroutines", V1_4);
        guarded(w);
        nested(w);
        leaves(w);
        looped(w);
        return w.toByteArray();
    }

    /**
     * try { return Assembled.work(n); } finally { Assembled.leaf(); }, as javac made it before 1.4.2: the
     * subroutine is called from the return and from the handler.
     */
    // jsrReturns: +guarded +work -work +leaf -leaf -guarded
    // jsrThrows normal: +guarded +work +leaf -leaf
    // jsrThrows: +guarded +work -work +leaf -leaf -guarded
    private static void guarded(ClassWriter w) {
        MethodVisitor m = method(w, "guarded", "(I)I");
        Label start = new Label();
        Label end = new Label();
        Label handler = new Label();
        Label finallyCode = new Label();
        m.visitTryCatchBlock(start, end, handler, null);
        m.visitLabel(start);
        m.visitVarInsn(ILOAD, 0);
        call(m, "Assembled", "work", "(I)I");
        m.visitVarInsn(ISTORE, 1);
        m.visitLabel(end);
        m.visitJumpInsn(JSR, finallyCode);
        m.visitVarInsn(ILOAD, 1);
        m.visitInsn(IRETURN);
        m.visitLabel(handler);
        m.visitVarInsn(ASTORE, 2);
        m.visitJumpInsn(JSR, finallyCode);
        m.visitVarInsn(ALOAD, 2);
        m.visitInsn(ATHROW);
        m.visitLabel(finallyCode);
        m.visitVarInsn(ASTORE, 3);
        call(m, "Assembled", "leaf", "()I");
        m.visitInsn(POP);
        m.visitVarInsn(RET, 3);
        end(m);
    }

    /** A subroutine that calls another, twice, and is itself called from two places. */
    // jsrNested: +nested (+leaf -leaf)*4 -nested
    private static void nested(ClassWriter w) {
        MethodVisitor m = method(w, "nested", "(I)I");
        Label outer = new Label();
        Label inner = new Label();
        m.visitJumpInsn(JSR, outer);
        m.visitJumpInsn(JSR, outer);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        m.visitLabel(outer);
        m.visitVarInsn(ASTORE, 1);
        m.visitJumpInsn(JSR, inner);
        m.visitJumpInsn(JSR, inner);
        m.visitVarInsn(RET, 1);
        m.visitLabel(inner);
        m.visitVarInsn(ASTORE, 2);
        call(m, "Assembled", "leaf", "()I");
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IADD);
        m.visitVarInsn(ISTORE, 0);
        m.visitVarInsn(RET, 2);
        end(m);
    }

    /** A subroutine that returns from the method, or throws, instead of going back. */
    // jsrLeaves normal: +leaves -leaves +leaves +leaf -leaf
    // jsrLeaves: +leaves -leaves +leaves +leaf -leaf -leaves
    private static void leaves(ClassWriter w) {
        MethodVisitor m = method(w, "leaves", "(I)I");
        Label out = new Label();
        Label fail = new Label();
        m.visitJumpInsn(JSR, out);
        m.visitLabel(out);
        m.visitInsn(POP);
        m.visitVarInsn(ILOAD, 0);
        m.visitJumpInsn(IFLT, fail);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        m.visitLabel(fail);
        m.visitTypeInsn(NEW, "java/lang/IllegalStateException");
        m.visitInsn(DUP);
        call(m, "Assembled", "leaf", "()I");
        call(m, "java/lang/String", "valueOf", "(I)Ljava/lang/String;");
        m.visitMethodInsn(INVOKESPECIAL, "java/lang/IllegalStateException", "<init>", "(Ljava/lang/String;)V", false);
        m.visitInsn(ATHROW);
        end(m);
    }

    /** A loop back to offset 0, where a subroutine is called. */
    // jsrLooped: +looped (+leaf -leaf)*3 -looped
    private static void looped(ClassWriter w) {
        MethodVisitor m = method(w, "looped", "(I)I");
        Label top = new Label();
        Label body = new Label();
        m.visitLabel(top);
        m.visitJumpInsn(JSR, body);
        m.visitVarInsn(ILOAD, 0);
        m.visitJumpInsn(IFGT, top);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        m.visitLabel(body);
        m.visitVarInsn(ASTORE, 1);
        call(m, "Assembled", "leaf", "()I");
        m.visitInsn(POP);
        m.visitIincInsn(0, -1);
        m.visitVarInsn(RET, 1);
        end(m);
    }

    private static final String BASE = "Assembled$Base";

    private static void initialise(MethodVisitor m, String owner, int argument) {
        m.visitVarInsn(ALOAD, 0);
        m.visitIntInsn(BIPUSH, argument);
        m.visitMethodInsn(INVOKESPECIAL, owner, "<init>", "(I)V", false);
    }

    /** Constructors that initialise this in several places, or in none on some path. */
    private static byte[] twice() {
        ClassWriter w = begin("Twice", V1_8, BASE);
        branches(w);
        retries(w);
        return w.toByteArray();
    }

    /**
     * if (n > 0) { super(1); } else if (n < 0) { super(2); Assembled.leaf(); } else { throw null; }, and one return
     * behind all of it. A throw with this still uninitialised leaves what was never entered.
     */
    // superFirst: +Twice.<init> +Base.<init> -Base.<init> -Twice.<init>
    // superFirst after-super,exact: +Base.<init> -Base.<init> +Twice.<init> -Twice.<init>
    // superSecond: +Twice.<init> +Base.<init> -Base.<init> +leaf -leaf -Twice.<init>
    // superSecond after-super,exact: +Base.<init> -Base.<init> +Twice.<init> +leaf -leaf -Twice.<init>
    // superNever normal: +Twice.<init>
    // superNever throws: +Twice.<init> -Twice.<init>
    // superNever after-super,exact:
    private static void branches(ClassWriter w) {
        MethodVisitor m = w.visitMethod(ACC_PUBLIC, "<init>", "(I)V", null, null);
        m.visitCode();
        Label second = new Label();
        Label never = new Label();
        Label out = new Label();
        m.visitVarInsn(ILOAD, 1);
        m.visitJumpInsn(IFLE, second);
        initialise(m, BASE, 1);
        m.visitJumpInsn(GOTO, out);
        m.visitLabel(second);
        m.visitVarInsn(ILOAD, 1);
        m.visitJumpInsn(IFEQ, never);
        initialise(m, BASE, 2);
        call(m, "Assembled", "leaf", "()I");
        m.visitInsn(POP);
        m.visitJumpInsn(GOTO, out);
        m.visitLabel(never);
        m.visitInsn(ACONST_NULL);
        m.visitInsn(ATHROW);
        m.visitLabel(out);
        m.visitInsn(RETURN);
        end(m);
    }

    /**
     * A loop, back to offset 0, in front of this(1) or this(-1); behind that a throw that its own method catches
     * and a second one that it does not.
     */
    // thisLoops normal: +Twice.<init> (+leaf -leaf)*2 +Twice.<init> +Base.<init> -Base.<init> -Twice.<init>
    // thisLoops throws: +Twice.<init> (+leaf -leaf)*2 +Twice.<init> +Base.<init> -Base.<init> -Twice.<init> -Twice.<init>
    // thisLoops after-super,exact: (+leaf -leaf)*2 +Base.<init> -Base.<init> +Twice.<init> -Twice.<init> +Twice.<init> -Twice.<init>
    private static void retries(ClassWriter w) {
        MethodVisitor m = w.visitMethod(ACC_PUBLIC, "<init>", "(IZ)V", null, null);
        m.visitCode();
        Label top = new Label();
        Label start = new Label();
        Label end = new Label();
        Label handler = new Label();
        m.visitTryCatchBlock(start, end, handler, "java/lang/NullPointerException");
        m.visitLabel(top);
        call(m, "Assembled", "leaf", "()I");
        m.visitInsn(POP);
        m.visitIincInsn(1, -1);
        m.visitVarInsn(ILOAD, 1);
        m.visitJumpInsn(IFGT, top);
        initialise(m, "Twice", 1);
        m.visitLabel(start);
        m.visitInsn(ACONST_NULL);
        m.visitInsn(ATHROW);
        m.visitLabel(end);
        m.visitLabel(handler);
        m.visitInsn(ATHROW);
        end(m);
    }

    private static byte[] far(String name, int version) {
        ClassWriter w = begin(name, version);
        forward(w, "forward", REACH);
        forward(w, "wide", 32768);
        backward(w, "backward", REACH - 3);
        cases(w, "table", true);
        cases(w, "lookup", false);
        sized(w, "large", 64000);
        sized(w, "tooLarge", 65535);
        sized(w, "compilable", 7990);
        if (version < V1_7) {
            farSubroutine(w);
        }
        return w.toByteArray();
    }

    /** Returns a number of bytes of code that adds to local 0, with some returns where local 1 is a multiple of 64. */
    private static void fill(MethodVisitor m, int size) {
        int left = size;
        for (int k = 1; left >= 400 && k <= 60; k++) {
            Label on = new Label();
            m.visitVarInsn(ILOAD, 1);
            m.visitIntInsn(SIPUSH, 64 * k);
            m.visitJumpInsn(IF_ICMPNE, on);
            m.visitIincInsn(0, k);
            m.visitVarInsn(ILOAD, 0);
            m.visitInsn(IRETURN);
            m.visitLabel(on);
            left -= 1 + 3 + 3 + 3 + 1 + 1;
        }
        while (left >= 6 || left == 3) {
            m.visitIincInsn(0, left % 100);
            left -= 3;
        }
        while (left-- > 0) {
            m.visitInsn(NOP);
        }
    }

    /** A conditional branch forward over a distance. */
    private static void forward(ClassWriter w, String name, int distance) {
        MethodVisitor m = method(w, name, "(II)I");
        Label there = new Label();
        m.visitVarInsn(ILOAD, 1);
        m.visitJumpInsn(IFEQ, there);
        fill(m, distance - 3 - 2);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        m.visitLabel(there);
        m.visitVarInsn(ILOAD, 0);
        m.visitIntInsn(SIPUSH, 1000);
        m.visitInsn(IADD);
        m.visitInsn(IRETURN);
        end(m);
    }

    /** A loop, back to offset 0 over a distance, by a goto; left by a conditional branch over the same. */
    private static void backward(ClassWriter w, String name, int distance) {
        MethodVisitor m = method(w, name, "(II)I");
        Label top = new Label();
        Label out = new Label();
        m.visitLabel(top);
        m.visitIincInsn(1, -1);
        m.visitVarInsn(ILOAD, 1);
        m.visitJumpInsn(IFLE, out);
        fill(m, distance - 3 - 1 - 3);
        m.visitJumpInsn(GOTO, top);
        m.visitLabel(out);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        end(m);
    }

    /** A switch with many far targets; its start is not aligned. */
    private static void cases(ClassWriter w, String name, boolean table) {
        MethodVisitor m = method(w, name, "(II)I");
        Label[] labels = new Label[1500];
        int[] keys = new int[labels.length];
        for (int k = 0; k < labels.length; k++) {
            labels[k] = new Label();
            keys[k] = table ? k : 7 * k;
        }
        Label none = new Label();
        m.visitVarInsn(ILOAD, 1);
        if (table) {
            m.visitTableSwitchInsn(0, labels.length - 1, none, labels);
        } else {
            m.visitLookupSwitchInsn(none, keys, labels);
        }
        for (int k = 0; k < labels.length; k++) {
            m.visitLabel(labels[k]);
            m.visitIincInsn(0, k % 100);
            if (k % 3 == 0) {
                m.visitVarInsn(ILOAD, 0);
                m.visitInsn(IRETURN);
            } else if (k % 3 == 1) {
                m.visitJumpInsn(GOTO, none);
            }
        }
        m.visitLabel(none);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(INEG);
        m.visitInsn(IRETURN);
        end(m);
    }

    /** A method with the given number of bytes of code. */
    private static void sized(ClassWriter w, String name, int size) {
        MethodVisitor m = method(w, name, "(II)I");
        fill(m, size - 2);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        end(m);
    }

    /** A subroutine that one call can just reach and that is far from the other. */
    private static void farSubroutine(ClassWriter w) {
        MethodVisitor m = method(w, "subroutine", "(II)I");
        Label sub = new Label();
        m.visitJumpInsn(JSR, sub);
        fill(m, REACH - 3 - 3 - 2);
        m.visitJumpInsn(JSR, sub);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        m.visitLabel(sub);
        m.visitVarInsn(ASTORE, 2);
        call(m, "Assembled", "leaf", "()I");
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IADD);
        m.visitVarInsn(ISTORE, 0);
        m.visitVarInsn(RET, 2);
        end(m);
    }
}
