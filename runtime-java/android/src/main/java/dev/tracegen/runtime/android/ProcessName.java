package dev.tracegen.runtime.android;

import android.app.Application;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;

/** The name of the process. It makes the output of each process of an app a file of its own. */
final class ProcessName {
    private ProcessName() {
    }

    /** Returns the name, {@code app} if it is unknown. Reads a file before Android 9. */
    static String read() {
        try {
            // Public since Android 9.
            String name = (String) Application.class.getMethod("getProcessName").invoke(null);
            if (name != null && name.length() > 0) {
                return name;
            }
        } catch (Throwable e) {
            // An older version.
        }
        try (BufferedReader in = new BufferedReader(
                new InputStreamReader(new FileInputStream("/proc/self/cmdline"), "UTF-8"))) {
            String line = in.readLine();
            String name = line == null ? "" : line.split("\0", 2)[0].trim();
            return name.length() == 0 ? "app" : new File(name).getName();
        } catch (IOException e) {
            return "app";
        }
    }
}
