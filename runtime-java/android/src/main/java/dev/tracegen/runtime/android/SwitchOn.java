package dev.tracegen.runtime.android;

import android.content.Context;
import android.util.Log;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * Switches recording on for some time on one device, where the app's file has switched it off, and sends every report
 * meanwhile, whatever the sampling is. The time is over at the same moment in all processes and after every start. It
 * is set by {@link TracegenRuntime#enableFor}, or with adb by a file with a number of minutes, which count from the
 * file's time. All methods access the disk.
 */
final class SwitchOn {
    /** A file in the directory of the app's external files, which {@code adb shell} can write. */
    static final String MINUTES = "tracegen-minutes";

    private static final long MINUTE = 60000;
    private static final long LONGEST = 30L * 24 * 60;

    private SwitchOn() {
    }

    private static File file(Context context) {
        return new File(OutputPath.directory(context), "tracegen/on-until");
    }

    /** Sets the time; 0 minutes end it. Returns false if it cannot be written. */
    static boolean set(Context context, long minutes, long wallMillis) {
        File file = file(context);
        if (minutes <= 0) {
            return !file.exists() || file.delete();
        }
        try {
            file.getParentFile().mkdirs();
            try (FileOutputStream out = new FileOutputStream(file)) {
                out.write(Long.toString(wallMillis + Math.min(minutes, LONGEST) * MINUTE).getBytes("US-ASCII"));
            }
            return true;
        } catch (IOException e) {
            Log.w(TracegenRuntime.TAG, "recording cannot be switched on for a time", e);
            return false;
        }
    }

    /** Returns for how many milliseconds recording is switched on, 0 if it is not. */
    static long left(Context context, long wallMillis) {
        long until = number(file(context));
        long left = until - wallMillis;
        // If the clock was set back, the time may seem much longer than any that can be set.
        if (left <= 0 || left > LONGEST * MINUTE) {
            left = 0;
        }
        return Math.max(left, ofAdb(context, wallMillis));
    }

    private static long ofAdb(Context context, long wallMillis) {
        try {
            File dir = context.getExternalFilesDir(null);
            File file = dir == null ? null : new File(dir, MINUTES);
            long minutes = file == null ? -1 : number(file);
            if (minutes > 0 && minutes <= LONGEST) {
                long begin = Math.min(wallMillis, file.lastModified());
                return Math.max(0, begin + minutes * MINUTE - wallMillis);
            }
        } catch (Throwable e) {
            // There is no such directory now.
        }
        return 0;
    }

    /** Returns the number in a file, -1 if there is none. */
    private static long number(File file) {
        if (!file.isFile()) {
            return -1;
        }
        try (BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(file), "US-ASCII"))) {
            String line = in.readLine();
            return line == null ? -1 : Long.parseLong(line.trim());
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
    }
}
