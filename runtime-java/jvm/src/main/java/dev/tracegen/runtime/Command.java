package dev.tracegen.runtime;

import java.io.File;

/** The command line of a Java program, as the system property {@code sun.java.command} has it. */
final class Command {
    private static final String JAR = ".jar";

    private Command() {
    }

    /**
     * Returns the program without its arguments, which may hold secrets: the main class with its module, or the name of
     * the jar without its directory. A path may contain blanks, and the property does not say where the arguments
     * begin, so a path ends behind the first {@code .jar}.
     */
    static String program(String command) {
        int blank = command.indexOf(' ');
        String first = blank < 0 ? command : command.substring(0, blank);
        if (isClass(first)) {
            return first;
        }
        int jar = (command + " ").indexOf(JAR + " ");
        return new File(jar < 0 ? first : command.substring(0, jar + JAR.length())).getName();
    }

    /** Returns the name of the main class without its package and module, or of the jar without its extension. */
    static String name(String command) {
        String program = program(command);
        return program.endsWith(JAR) ? program.substring(0, program.length() - JAR.length())
                : program.substring(Math.max(program.lastIndexOf('.'), program.lastIndexOf('/')) + 1);
    }

    /** Reports whether a text is the name of a class, or of a module and a class with a slash between. */
    private static boolean isClass(String text) {
        int slashes = 0;
        for (int k = 0; k < text.length(); k++) {
            char c = text.charAt(k);
            slashes += c == '/' ? 1 : 0;
            if (c != '/' && c != '.' && !Character.isJavaIdentifierPart(c)) {
                return false;
            }
        }
        return slashes <= 1 && text.length() > 0 && Character.isJavaIdentifierStart(text.charAt(0));
    }
}
