package dev.tracegen.runtime.android;

import android.content.Context;
import android.util.Log;
import java.io.File;

/**
 * The file of the recording. Two processes of an app never share one: the default name is that of the process, and a
 * name that the app has chosen gets the name of the process, unless it is the app's main process.
 */
final class OutputPath {
    private OutputPath() {
    }

    /**
     * Returns the file and creates its directory. Accesses the disk.
     *
     * @param name the option {@code output}
     * @return null if nothing is to be written, or if the directory cannot be created, which is logged
     */
    static File of(Context context, String name, String process) {
        if ("none".equals(name)) {
            return null;
        }
        File file = new File(name.length() == 0 ? "tracegen/" + fileName(process) + ".tgd"
                : ofProcess(name, process, context.getPackageName()));
        if (!file.isAbsolute()) {
            file = new File(directory(context), file.getPath());
        }
        File dir = file.getParentFile();
        // Of the external storage Android may have to make the app's directory, which the app itself cannot.
        if (!isMade(dir) && (context.getExternalFilesDir(null) == null || !isMade(dir))) {
            Log.w(TracegenRuntime.TAG, "cannot create the directory " + dir + "; no recording is written");
            return null;
        }
        return file;
    }

    private static boolean isMade(File dir) {
        return dir.isDirectory() || dir.mkdirs() || dir.isDirectory();
    }

    /** Inserts the name of a process that is not the main one before the extension: {@code app-push.tgd}. */
    static String ofProcess(String name, String process, String packageName) {
        if (process.equals(packageName)) {
            return name;
        }
        String own = process.startsWith(packageName + ":") ? process.substring(packageName.length() + 1) : process;
        int dot = name.lastIndexOf('.');
        int at = dot > name.lastIndexOf('/') + 1 ? dot : name.length();
        return name.substring(0, at) + "-" + fileName(own) + name.substring(at);
    }

    private static String fileName(String process) {
        return process.replaceAll("[^A-Za-z0-9._-]", "_");
    }

    /**
     * Returns the directory that no backup takes: recordings would fill the backup of the user, and are of no use on
     * another device. Before Android 5 there is none.
     */
    static File directory(Context context) {
        try {
            File dir = (File) Context.class.getMethod("getNoBackupFilesDir").invoke(context);
            if (dir != null) {
                return dir;
            }
        } catch (Throwable e) {
            // An older version.
        }
        return context.getFilesDir();
    }
}
