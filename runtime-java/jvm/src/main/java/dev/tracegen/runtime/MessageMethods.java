package dev.tracegen.runtime;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The methods whose calls are messages on threads without a Looper, such as the method of a server that handles a
 * request. Without them, the outermost call of a pool's thread would be one message for as long as the thread lives.
 *
 * <p>They are those that the mapping has from the build's rules, or those that match patterns that were set for this
 * run. Both need the mapping of the program, because the program has only the IDs of its methods. IDs need none.
 */
final class MessageMethods {
    /** A method line of the mapping: ID, access flags, class and method. */
    private static final Pattern LINE = Pattern.compile("([0-9]{1,7}),[0-9]+,([^ ]+) ([^ ]+).*");

    /** Methods by ID, and the calls that were found to enclose messages. Used by the sampler only. */
    final BitSet methods = new BitSet();
    final BitSet loops = new BitSet();

    /**
     * Finds the methods. What is wrong with them is logged.
     *
     * @param messages methods or their IDs with commas between; null for those of the mapping
     * @return null if there are none
     */
    static MessageMethods find(RecorderOptions options, String messages) {
        MessageMethods found = new MessageMethods();
        List<Pattern> patterns = new ArrayList<Pattern>();
        for (String text : messages == null ? new String[0] : messages.split(",")) {
            text = text.trim();
            if (text.matches("[1-9][0-9]{0,6}")) {
                found.methods.set(Integer.parseInt(text));
            } else if (text.matches("[^#()?]+#[^#()?]+")) {
                patterns.add(pattern(text));
            } else {
                options.platform.log("message " + text + ": want CLASS#METHOD or an ID; it is ignored");
            }
        }
        if (options.get("mapping").length() > 0) {
            try {
                found.read(options, messages, patterns);
            } catch (IOException e) {
                options.platform.log("the mapping cannot be read, so that its messages are not known: "
                        + e.getMessage());
            }
        } else if (!patterns.isEmpty()) {
            options.platform.log("message " + messages
                    + ": needs the mapping of the program (tracegen.mapping), or IDs in place of names; it is ignored");
        }
        return found.methods.isEmpty() ? null : found;
    }

    private void read(RecorderOptions options, String messages, List<Pattern> patterns) throws IOException {
        boolean declared = methods.isEmpty() && patterns.isEmpty();
        boolean[] matched = new boolean[patterns.size()];
        try (BufferedReader in = new BufferedReader(new InputStreamReader(
                new FileInputStream(options.get("mapping")), "UTF-8"))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith("# digest ") && !line.substring(9).equals(MappingInfo.digest())) {
                    if (!patterns.isEmpty()) {
                        options.platform.log("message " + messages + ": the mapping is of another build ("
                                + line.substring(9) + ", the program has " + MappingInfo.digest() + "); it is ignored");
                    }
                    return;
                }
                if (declared && line.startsWith("# message ") && line.matches("# message [1-9][0-9]{0,6}")) {
                    methods.set(Integer.parseInt(line.substring(10)));
                }
                Matcher m = patterns.isEmpty() ? null : LINE.matcher(line);
                for (int k = 0; m != null && m.matches() && k < patterns.size(); k++) {
                    if (patterns.get(k).matcher(m.group(2) + "#" + m.group(3)).matches()) {
                        methods.set(Integer.parseInt(m.group(1)));
                        matched[k] = true;
                    }
                }
            }
        }
        for (int k = 0; k < matched.length; k++) {
            if (!matched[k]) {
                options.platform.log("message " + messages
                        + ": a pattern matches no method of the mapping, so that no calls are messages by it");
            }
        }
    }

    /**
     * Returns the pattern of tracegen's rules, CLASS#METHOD without parameters, as a regular expression: a single star
     * matches within a segment of a name, two match any number of packages.
     */
    private static Pattern pattern(String text) {
        int hash = text.indexOf('#');
        StringBuilder b = new StringBuilder();
        String[] segments = text.substring(0, hash).replace('/', '.').split("\\.");
        for (int k = 0; k < segments.length; k++) {
            boolean last = k == segments.length - 1;
            if (segments[k].equals("**")) {
                b.append(last ? ".+" : "(?:[^#]+\\.)?");
            } else {
                b.append(glob(segments[k])).append(last ? "(?:\\$[^.#]*)?" : "\\.");
            }
        }
        return Pattern.compile(b.append('#').append(glob(text.substring(hash + 1))).toString());
    }

    private static String glob(String text) {
        return Pattern.quote(text).replaceAll("\\*+", "\\\\E[^.#]*\\\\Q");
    }

    /** Returns the IDs, separated by commas. */
    @Override
    public String toString() {
        StringBuilder b = new StringBuilder();
        for (int id = methods.nextSetBit(0); id >= 0; id = methods.nextSetBit(id + 1)) {
            b.append(b.length() == 0 ? "" : ",").append(id);
        }
        return b.toString();
    }
}
