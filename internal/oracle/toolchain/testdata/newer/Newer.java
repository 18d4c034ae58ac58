import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Uses what Android 5.0 lacks, in ways that compile for Java 8. */
final class Newer {
    private Newer() {
    }

    static String join(List<String> parts) {
        return String.join(",", parts); // API 26
    }

    static String find(Map<String, String> map) {
        return map.getOrDefault("key", ""); // API 24
    }

    static int hash(long number) {
        return Long.hashCode(number); // API 24
    }

    static Object keys(ConcurrentHashMap<String, String> map) {
        return map.keySet(); // the return type is a class of API 24
    }

    static Object date() {
        return java.time.Instant.now(); // API 26
    }

    static int older(Long a, String[] b) throws Exception {
        try (AutoCloseable c = null) {
            return Long.compare(a, b.length) + java.util.Objects.hashCode(b); // all API 19
        }
    }
}
