package dev.tracegen.runtime.android;

import android.app.Notification;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.content.Context;
import android.content.Intent;
import android.content.pm.PackageManager;
import android.os.Build;
import android.util.Log;
import dev.tracegen.runtime.report.Report;

/**
 * Shows the last stall or incident in a notification, for debug builds. A tap on it shares the report as text. Android
 * 13 and newer show nothing unless the app has the permission {@code POST_NOTIFICATIONS}; nothing here requests it.
 *
 * <p>Channels came with Android 8, so they are called by reflection. They are public API.
 */
final class StallNotice {
    private static final String CHANNEL = "tracegen";
    private static final int ID = 0x7467;
    private static final int TIRAMISU = 33;
    private static final int OREO = 26;
    private static final int IMPORTANCE_LOW = 2;

    /** {@code PendingIntent.FLAG_IMMUTABLE}, since Android 6. Apps for Android 12 and newer must set it. */
    private static final int IMMUTABLE = 1 << 26;
    private static final int MARSHMALLOW = 23;

    /** An intent goes through a buffer of a megabyte, which all transactions of the process share. */
    private static final int MAX_SHARED = 60000;

    private final Context context;
    private boolean failed;

    StallNotice(Context context) {
        this.context = context;
    }

    /** Shows a report. Calls other processes, so not on the main thread. Never throws. */
    void show(String title, String text, Report report) {
        try {
            if (Build.VERSION.SDK_INT >= TIRAMISU && context.checkCallingOrSelfPermission(
                    "android.permission.POST_NOTIFICATIONS") != PackageManager.PERMISSION_GRANTED) {
                fail("the app lacks the permission POST_NOTIFICATIONS", null);
                return;
            }
            NotificationManager manager =
                    (NotificationManager) context.getSystemService(Context.NOTIFICATION_SERVICE);
            if (manager != null) {
                manager.notify(ID, notification(manager, title, text, report.toString()));
            }
        } catch (Throwable e) {
            fail("a notification cannot be shown", e);
        }
    }

    private void fail(String why, Throwable e) {
        if (!failed) {
            failed = true;
            Log.w(TracegenRuntime.TAG, "no stall is shown: " + why, e);
        }
    }

    /** Returns what a tap opens: a choice of apps that take text. */
    static Intent share(String title, String json) {
        Intent send = new Intent(Intent.ACTION_SEND);
        send.setType("text/plain");
        send.putExtra(Intent.EXTRA_SUBJECT, title);
        send.putExtra(Intent.EXTRA_TEXT, json.length() <= MAX_SHARED ? json
                : json.substring(0, MAX_SHARED) + "\n... (" + (json.length() - MAX_SHARED) + " more characters)");
        Intent choose = Intent.createChooser(send, title);
        choose.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK);
        return choose;
    }

    private Notification notification(NotificationManager manager, String title, String text, String json)
            throws ReflectiveOperationException {
        int flags = PendingIntent.FLAG_UPDATE_CURRENT | (Build.VERSION.SDK_INT >= MARSHMALLOW ? IMMUTABLE : 0);
        Notification.Builder b = new Notification.Builder(context);
        b.setSmallIcon(android.R.drawable.ic_dialog_alert);
        b.setContentTitle(title);
        b.setContentText(text);
        b.setAutoCancel(true);
        b.setContentIntent(PendingIntent.getActivity(context, 0, share(title, json), flags));
        if (Build.VERSION.SDK_INT >= OREO) {
            Class<?> type = Class.forName("android.app.NotificationChannel");
            Object channel = type.getConstructor(String.class, CharSequence.class, int.class).newInstance(CHANNEL,
                    "Stalls", IMPORTANCE_LOW);
            NotificationManager.class.getMethod("createNotificationChannel", type).invoke(manager, channel);
            Notification.Builder.class.getMethod("setChannelId", String.class).invoke(b, CHANNEL);
        }
        return b.build();
    }
}
