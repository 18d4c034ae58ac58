package dev.tracegen.oracle;

import static org.objectweb.asm.Opcodes.ARETURN;
import static org.objectweb.asm.Opcodes.ATHROW;
import static org.objectweb.asm.Opcodes.BIPUSH;
import static org.objectweb.asm.Opcodes.DUP;
import static org.objectweb.asm.Opcodes.GETSTATIC;
import static org.objectweb.asm.Opcodes.GOTO;
import static org.objectweb.asm.Opcodes.IALOAD;
import static org.objectweb.asm.Opcodes.IASTORE;
import static org.objectweb.asm.Opcodes.ICONST_0;
import static org.objectweb.asm.Opcodes.ICONST_5;
import static org.objectweb.asm.Opcodes.ICONST_M1;
import static org.objectweb.asm.Opcodes.IDIV;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.IREM;
import static org.objectweb.asm.Opcodes.IRETURN;
import static org.objectweb.asm.Opcodes.LDC;
import static org.objectweb.asm.Opcodes.LDIV;
import static org.objectweb.asm.Opcodes.LREM;
import static org.objectweb.asm.Opcodes.MONITOREXIT;
import static org.objectweb.asm.Opcodes.MULTIANEWARRAY;
import static org.objectweb.asm.Opcodes.RET;
import static org.objectweb.asm.Opcodes.RETURN;
import static org.objectweb.asm.Opcodes.SALOAD;
import static org.objectweb.asm.Opcodes.SASTORE;
import static org.objectweb.asm.Opcodes.SIPUSH;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * The runtime calls of one method: the IDs that it reports, its exits, and whether on every path through it an entry is
 * followed by exactly one exit.
 *
 * <p>The columns are: IDs of the entries and of the exits in code order, comma-separated; number of
 * returns; number of {@code athrow} that no exception range covers, those of a handler that does
 * nothing but report the exit and rethrow not counted; number of such handlers; number of reachable
 * instructions that can throw after the entry and are not in the range of such a handler; what is
 * wrong, empty if nothing is.
 */
final class Calls {
    private static final int UNSEEN = -1;

    private final AbstractInsnNode[] code;
    private final Map<LabelNode, Integer> at = new HashMap<>();
    private final List<TryCatchBlockNode> ranges;
    private final List<Integer> entries = new ArrayList<>();
    private final List<Integer> exits = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final int[] call;
    private final Set<Integer> targets = new HashSet<>();

    final int returns;
    final int bareThrows;
    final int handlers;
    int exposed;

    Calls(MethodNode m, String runtime) {
        ranges = m.tryCatchBlocks;
        List<AbstractInsnNode> real = new ArrayList<>();
        for (AbstractInsnNode n : m.instructions) {
            if (n instanceof LabelNode) {
                at.put((LabelNode) n, real.size());
            } else if (n.getOpcode() >= 0) {
                real.add(n);
            }
        }
        code = real.toArray(new AbstractInsnNode[0]);
        call = new int[code.length];
        for (int k = 0; k < code.length; k++) {
            for (int t : jumps(k)) {
                targets.add(t);
            }
            call[k] = runtimeCall(code[k], runtime);
        }
        for (TryCatchBlockNode r : ranges) {
            targets.add(at.get(r.handler));
        }
        collectIds();
        Set<Integer> own = ownHandlers();
        handlers = own.size();
        int[] counts = countExits(own);
        returns = counts[0];
        bareThrows = counts[1];
        if (!entries.isEmpty() || !exits.isEmpty()) {
            walk(own);
        }
    }

    String entryIds() {
        return join(entries);
    }

    String exitIds() {
        return join(exits);
    }

    String faults() {
        return String.join("; ", faults);
    }

    private static String join(List<Integer> ids) {
        StringBuilder b = new StringBuilder();
        for (int id : ids) {
            b.append(b.length() == 0 ? "" : ",").append(id);
        }
        return b.toString();
    }

    /** The descriptor of the o that takes the result of a suspend function. */
    private static final String WITH_RESULT = "(Ljava/lang/Object;I)V";

    /** 1 for a call of i, 2 for one of o, 0 for everything else. */
    private static int runtimeCall(AbstractInsnNode n, String runtime) {
        if (n.getOpcode() != INVOKESTATIC) {
            return 0;
        }
        MethodInsnNode c = (MethodInsnNode) n;
        if (!c.owner.equals(runtime)) {
            return 0;
        }
        if (c.desc.equals(WITH_RESULT)) {
            return c.name.equals("o") ? 2 : 0;
        }
        return !c.desc.equals("(I)V") ? 0 : c.name.equals("i") ? 1 : c.name.equals("o") ? 2 : 0;
    }

    private void collectIds() {
        for (int k = 0; k < code.length; k++) {
            if (call[k] == 0) {
                continue;
            }
            Integer id = k == 0 ? null : constant(code[k - 1]);
            if (id == null) {
                faults.add("call at " + k + " has no constant before it");
                id = -1;
            } else if (targets.contains(k)) {
                faults.add("a branch lands between constant and call at " + k);
            }
            if (((MethodInsnNode) code[k]).desc.equals(WITH_RESULT)
                    && (k < 2 || code[k - 2].getOpcode() != DUP || targets.contains(k - 1)
                    || k + 1 == code.length || code[k + 1].getOpcode() != ARETURN)) {
                faults.add("exit at " + k + " does not take the result that is returned");
            }
            (call[k] == 1 ? entries : exits).add(id);
            if (call[k] == 2 && (k + 1 == code.length || !ends(code[k + 1].getOpcode()))) {
                faults.add("exit at " + k + " is not followed by a return or athrow");
            } else if (call[k] == 2 && targets.contains(k + 1)) {
                faults.add("a branch lands between exit and return at " + (k + 1));
            }
        }
    }

    private static Integer constant(AbstractInsnNode n) {
        int op = n.getOpcode();
        if (op >= ICONST_M1 && op <= ICONST_5) {
            return op - ICONST_0;
        }
        if (op == BIPUSH || op == SIPUSH) {
            return ((IntInsnNode) n).operand;
        }
        if (n instanceof LdcInsnNode && ((LdcInsnNode) n).cst instanceof Integer) {
            return (Integer) ((LdcInsnNode) n).cst;
        }
        return null;
    }

    private static boolean isReturn(int op) {
        return op >= IRETURN && op <= RETURN;
    }

    private static boolean ends(int op) {
        return isReturn(op) || op == ATHROW;
    }

    /** The starts of handlers that push an ID, report an exit and rethrow. */
    private Set<Integer> ownHandlers() {
        Set<Integer> own = new HashSet<>();
        for (TryCatchBlockNode r : ranges) {
            int h = at.get(r.handler);
            if (h + 2 < code.length && call[h + 1] == 2
                    && code[h + 2].getOpcode() == ATHROW) {
                own.add(h);
            }
        }
        return own;
    }

    private int[] countExits(Set<Integer> own) {
        boolean[] covered = new boolean[code.length];
        for (TryCatchBlockNode r : ranges) {
            Arrays.fill(covered, at.get(r.start), Math.max(at.get(r.start), at.get(r.end)), true);
        }
        int[] counts = new int[2];
        for (int k = 0; k < code.length; k++) {
            int op = code[k].getOpcode();
            if (isReturn(op)) {
                counts[0]++;
            } else if (op == ATHROW && !covered[k] && !own.contains(k - 2)) {
                counts[1]++;
            }
        }
        return counts;
    }

    private List<Integer> jumps(int k) {
        List<Integer> to = new ArrayList<>();
        AbstractInsnNode n = code[k];
        if (n instanceof JumpInsnNode) {
            to.add(at.get(((JumpInsnNode) n).label));
        } else if (n instanceof TableSwitchInsnNode) {
            TableSwitchInsnNode s = (TableSwitchInsnNode) n;
            to.add(at.get(s.dflt));
            s.labels.forEach(l -> to.add(at.get(l)));
        } else if (n instanceof LookupSwitchInsnNode) {
            LookupSwitchInsnNode s = (LookupSwitchInsnNode) n;
            to.add(at.get(s.dflt));
            s.labels.forEach(l -> to.add(at.get(l)));
        }
        return to;
    }

    private boolean fallsThrough(int k) {
        AbstractInsnNode n = code[k];
        int op = n.getOpcode();
        // A jsr "falls through" by the ret of its subroutine. Following both ways is precise enough here.
        return !ends(op) && op != GOTO && op != RET
                && !(n instanceof TableSwitchInsnNode) && !(n instanceof LookupSwitchInsnNode);
    }

    /**
     * Follows every path with the number of open entries. It leaves out exceptions out of the inserted calls, and out
     * of a return after one: the runtime never throws, and an exit inside a range of the original cannot be avoided.
     */
    private void walk(Set<Integer> own) {
        int[] open = new int[code.length];
        boolean[] safe = new boolean[code.length];
        for (TryCatchBlockNode r : ranges) {
            if (own.contains(at.get(r.handler))) {
                Arrays.fill(safe, at.get(r.start), at.get(r.end), true);
            }
        }
        Arrays.fill(open, UNSEEN);
        ArrayDeque<Integer> work = new ArrayDeque<>();
        reach(0, 0, open, work);
        while (!work.isEmpty()) {
            int k = work.pop();
            int depth = open[k];
            boolean ours = call[k] != 0 || k + 1 < code.length && call[k + 1] != 0
                    || k > 0 && call[k - 1] == 2;
            if (!ours) {
                exposed += depth == 1 && !safe[k] && canThrow(code[k]) ? 1 : 0;
                for (TryCatchBlockNode r : ranges) {
                    if (at.get(r.start) <= k && k < at.get(r.end)) {
                        reach(at.get(r.handler), depth, open, work);
                    }
                }
            }
            int after = depth;
            if (call[k] == 1) {
                after++;
            } else if (call[k] == 2) {
                after--;
            }
            if (after < 0 || after > 1) {
                faults.add(after < 0 ? "exit without an entry at " + k : "second entry at " + k);
                return;
            }
            if (isReturn(code[k].getOpcode()) && after != 0) {
                faults.add("return with an open entry at " + k);
                return;
            }
            for (int t : jumps(k)) {
                reach(t, after, open, work);
            }
            if (fallsThrough(k) && k + 1 < code.length) {
                reach(k + 1, after, open, work);
            }
        }
    }

    private static boolean canThrow(AbstractInsnNode n) {
        int op = n.getOpcode();
        if (op == LDC) {
            Object c = ((LdcInsnNode) n).cst;
            return !(c instanceof Number || c instanceof String);
        }
        return op >= IALOAD && op <= SALOAD || op >= IASTORE && op <= SASTORE
                || op == IDIV || op == LDIV || op == IREM || op == LREM
                || op >= GETSTATIC && op <= MONITOREXIT || op == MULTIANEWARRAY;
    }

    private void reach(int k, int depth, int[] open, ArrayDeque<Integer> work) {
        if (open[k] == UNSEEN) {
            open[k] = depth;
            work.push(k);
        } else if (open[k] != depth && faults.size() < 5) {
            faults.add("open entries differ by path at " + k);
        }
    }
}
