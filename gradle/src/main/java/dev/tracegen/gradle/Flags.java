package dev.tracegen.gradle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.gradle.api.GradleException;
import org.gradle.api.provider.Provider;

/** The further options of a build file, and the commands that take them. */
final class Flags {
    private static final Set<String> SCAN = new HashSet<>(Arrays.asList("add-requires", "allow-huge",
            "constructor-entry", "focus-hook", "strict-classpath", "trace-coroutines", "trace-posts",
            "trivial"));
    private static final Set<String> ASSIGN = new HashSet<>(Arrays.asList("id-order"));
    private static final Set<String> ANY = new HashSet<>(Arrays.asList("-q", "--quiet", "-v", "--verbose", "-j",
            "--jobs"));

    private Flags() {}

    /** Appends an option if the value is present. */
    static void add(List<String> list, String name, Provider<?> value) {
        if (value.isPresent()) {
            list.add(name + "=" + value.get());
        }
    }

    /** Appends a key of tracegen.yml if the value is present. */
    static void set(List<String> list, String key, Provider<?> value) {
        if (value.isPresent()) {
            list.add("--set=" + key + "=" + value.get());
        }
    }

    /** Appends a guard with its limit if the limit is present. */
    static void guard(List<String> list, String name, Provider<?> limit) {
        if (limit.isPresent()) {
            list.add("--guard=" + name + "=" + limit.get());
        }
    }

    /**
     * Returns the options that a command takes.
     *
     * @param command {@code scan}, {@code assign}, {@code slice} (instrument --slice) or {@code instrument}, which
     *     takes what {@code scan} does not
     * @param all options, each one element, with its value behind {@code =}
     */
    static List<String> of(String command, List<String> all) {
        List<String> list = new ArrayList<>();
        for (String flag : all) {
            if (!flag.startsWith("-")) {
                throw new GradleException("tracegen { arguments } has `" + flag + "`, which is not an option. Write an"
                        + " option and its value as one element: \"--name=value\".");
            }
            String[] parts = flag.split("=", 3);
            String name = parts[0].equals("--set") && parts.length > 1 ? parts[1] : parts[0];
            boolean scan = SCAN.contains(name);
            boolean assign = ASSIGN.contains(name);
            boolean takes;
            switch (command) {
                case "scan": takes = scan; break;
                case "assign": takes = assign || ANY.contains(name); break;
                case "slice": takes = !scan && !assign; break;
                default: takes = !scan; break;
            }
            if (takes) {
                list.add(flag);
            }
        }
        return list;
    }
}
