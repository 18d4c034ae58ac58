package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What is said of a native library that is not there. */
class NativeLibraryTest {
    @Test
    void anAppWithoutTheLibrary() {
        assertEquals("the native library is not in this app", NativeLibrary.load());
        assertEquals("the native library is not in this app", new NativeQuit(null).unavailable());
    }

    @Test
    void messagesOfAndroid() {
        assertTrue(NativeLibrary.isAbsent("dalvik.system.PathClassLoader[DexPathList[[zip file \"/data/app/base.apk\"],"
                + "nativeLibraryDirectories=[/system/lib64]]] couldn't find \"libtracegen_native.so\""));
        assertTrue(NativeLibrary.isAbsent("dlopen failed: library \"libtracegen_native.so\" not found"));
        assertFalse(NativeLibrary.isAbsent("dlopen failed: library \"libother.so\" not found: needed by "
                + "/data/app/lib/arm64/libtracegen_native.so in namespace classloader-namespace"));
        assertFalse(NativeLibrary.isAbsent("null"));
    }
}
