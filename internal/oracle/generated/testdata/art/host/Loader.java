package host;

import dalvik.system.InMemoryDexClassLoader;
import java.nio.ByteBuffer;
import java.util.*;

/** Loads the classes of a program from DEX files. */
final class Loader {
    static ClassLoader of(Map<String, byte[]> classes) {
        List<ByteBuffer> files = new ArrayList<>();
        for (byte[] dex : classes.values()) {
            if (dex.length > 0) {
                files.add(ByteBuffer.wrap(dex));
            }
        }
        return new InMemoryDexClassLoader(files.toArray(new ByteBuffer[0]), Runner.class.getClassLoader());
    }
}
