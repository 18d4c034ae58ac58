package sample;

import java.util.HashMap;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;

/**
 * A calculator by recursive descent. It is here for the bytecode it compiles to: constructors, switches of
 * both kinds, exceptions that are thrown, caught and pass through finally, loops, lambdas, inner classes
 * with accessors, a monitor.
 */
final class Calculator {
    private final Map<String, DoubleUnaryOperator> functions = new HashMap<>();
    private final Map<String, Double> variables = new HashMap<>();
    private int evaluated;
    private int failed;

    Calculator() {
        functions.put("sqrt", Math::sqrt);
        functions.put("abs", x -> x < 0 ? -x : x);
        functions.put("square", x -> x * x);
    }

    synchronized double evaluate(String text) throws SyntaxError {
        boolean done = false;
        try {
            double value = new Parser(text).statement();
            done = true;
            return value;
        } finally {
            evaluated++;
            if (!done) {
                failed++;
            }
        }
    }

    @Override
    public String toString() {
        synchronized (variables) {
            return evaluated + " evaluated, " + failed + " of them in vain, " + variables.size() + " variable(s)";
        }
    }

    private double constant(String name) {
        switch (name) {
            case "pi":
                return Math.PI;
            case "e":
                return Math.E;
            case "tau":
                return 2 * Math.PI;
            default:
                return Double.NaN;
        }
    }

    /** Thrown by the parser with the place in the text. */
    static final class SyntaxError extends Exception {
        private static final long serialVersionUID = 1;
        private final int position;

        SyntaxError(String message, int position) {
            super(message.isEmpty() ? "nonsense" : message);
            this.position = position;
        }

        int position() {
            return position;
        }
    }

    /** Reads one text. An inner class, so that it reaches the calculator through accessors. */
    private final class Parser {
        private final String text;
        private int at;

        Parser(String text) {
            this.text = text;
        }

        double statement() throws SyntaxError {
            int start = at;
            String name = name();
            if (!name.isEmpty() && next() == '=') {
                at++;
                double value = statement();
                variables.put(name, value);
                return value;
            }
            at = start;
            double value = sum();
            if (next() != 0) {
                throw new SyntaxError("unexpected " + next(), at);
            }
            return value;
        }

        private double sum() throws SyntaxError {
            double value = product();
            while (true) {
                switch (next()) {
                    case '+':
                        at++;
                        value += product();
                        break;
                    case '-':
                        at++;
                        value -= product();
                        break;
                    default:
                        return value;
                }
            }
        }

        private double product() throws SyntaxError {
            double value = factor();
            for (char c = next(); c == '*' || c == '/'; c = next()) {
                at++;
                double right = factor();
                value = c == '*' ? value * right : value / right;
            }
            return value;
        }

        private double factor() throws SyntaxError {
            switch (next()) {
                case '(':
                    at++;
                    double value = sum();
                    expect(')');
                    return value;
                case '-':
                    at++;
                    return -factor();
                case 0:
                    throw new SyntaxError("something is missing", at);
                default:
                    return atom();
            }
        }

        private double atom() throws SyntaxError {
            int start = at;
            String name = name();
            if (name.isEmpty()) {
                return number();
            }
            DoubleUnaryOperator function = functions.get(name);
            if (function != null) {
                expect('(');
                double argument = sum();
                expect(')');
                return function.applyAsDouble(argument);
            }
            Double value = variables.get(name);
            if (value == null) {
                value = constant(name);
            }
            if (value.isNaN()) {
                throw new SyntaxError("no variable " + name, start);
            }
            return value;
        }

        private double number() throws SyntaxError {
            int start = at;
            while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == '.')) {
                at++;
            }
            try {
                return Double.parseDouble(text.substring(start, at));
            } catch (NumberFormatException e) {
                throw new SyntaxError("not a number", start);
            }
        }

        private String name() {
            next();
            int start = at;
            while (at < text.length() && Character.isLetter(text.charAt(at))) {
                at++;
            }
            return text.substring(start, at);
        }

        private void expect(char wanted) throws SyntaxError {
            if (next() != wanted) {
                throw new SyntaxError(wanted + " is missing", at);
            }
            at++;
        }

        /** The next character that is no space, or 0 at the end. */
        private char next() {
            while (at < text.length() && text.charAt(at) == ' ') {
                at++;
            }
            return at < text.length() ? text.charAt(at) : 0;
        }
    }
}
