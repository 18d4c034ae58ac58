package sample;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.MappingInfo;
import java.util.Arrays;
import java.util.List;

/** Evaluates some expressions and then says what the runtime has recorded of it. */
public final class Main {
    private static final List<String> EXPRESSIONS = Arrays.asList(
            "1 + 2 * 3",
            "(1 + 2) * 3",
            "x = sqrt(81) / 4",
            "abs(2 - x * 10)",
            "7 * (6 + ",
            "unknown + 1");

    private Main() {
    }

    public static void main(String[] args) {
        List<String> expressions = args.length > 0 ? Arrays.asList(args) : EXPRESSIONS;
        Calculator calculator = new Calculator();
        expressions.forEach(expression -> System.out.println(expression + " -> " + answer(calculator, expression)));
        System.out.println(calculator);
        System.out.println(recording());
    }

    private static String answer(Calculator calculator, String expression) {
        try {
            return String.valueOf(calculator.evaluate(expression));
        } catch (Calculator.SyntaxError e) {
            return "error at " + e.position() + ": " + e.getMessage();
        }
    }

    private static String recording() {
        long[] events = AppMethodBeat.copy();
        if (events.length == 0) {
            return "no events: these classes are not instrumented";
        }
        int entries = 0;
        int depth = 0;
        int deepest = 0;
        for (long event : events) {
            // The sign bit tells an entry from an exit.
            if (event < 0) {
                entries++;
                depth++;
            } else {
                depth--;
            }
            deepest = Math.max(deepest, depth);
        }
        return entries + " entries and " + (events.length - entries) + " exits recorded, at most " + deepest
                + " deep; mapping " + MappingInfo.digest();
    }
}
