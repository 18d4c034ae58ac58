package dev.tracegen.gradle;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.gradle.api.GradleException;

/** The names under which {@code tracegen { variants { ... } }} may have settings. */
final class VariantNames {
    private VariantNames() {}

    /**
     * Returns the build types, flavours and variants, also of variants that a build file has disabled.
     *
     * @param flavors the flavours of each dimension
     */
    static Set<String> of(Collection<String> buildTypes, List<List<String>> flavors) {
        List<String> combined = Collections.singletonList("");
        Set<String> names = new LinkedHashSet<>(buildTypes);
        for (List<String> dimension : flavors) {
            names.addAll(dimension);
            combined = join(combined, dimension);
        }
        names.addAll(combined);
        names.addAll(join(combined, buildTypes));
        names.remove("");
        return names;
    }

    private static List<String> join(List<String> starts, Collection<String> ends) {
        List<String> all = new ArrayList<>();
        for (String start : starts) {
            for (String end : ends) {
                all.add(start.isEmpty() ? end : start + capitalized(end));
            }
        }
        return all;
    }

    /** Fails if a name is not among those that are known. */
    static void check(Collection<String> used, Collection<String> known, String project) {
        for (String name : used) {
            if (!known.contains(name)) {
                String near = Collections.min(known, (a, b) -> Integer.compare(distance(a, name), distance(b, name)));
                throw new GradleException("tracegen { variants { " + name + " } }: " + project + " has no variant,"
                        + " flavor or build type of that name. Did you mean " + near + "? The names are "
                        + String.join(", ", known) + ".");
            }
        }
    }

    /** Returns how many letters differ, are missing, or are too many. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int left = row[j - 1] + 1;
                int above = i == 0 ? left : row[j] + 1;
                int same = i == 0 ? left
                        : diagonal + (Character.toLowerCase(a.charAt(i - 1)) == Character.toLowerCase(b.charAt(j - 1))
                                ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(same, Math.min(left, above));
            }
        }
        return row[b.length()];
    }

    static String capitalized(String name) {
        return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    }
}
