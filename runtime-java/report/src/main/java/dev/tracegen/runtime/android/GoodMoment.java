package dev.tracegen.runtime.android;

import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.PackageManager;
import android.net.ConnectivityManager;
import android.net.NetworkInfo;
import android.os.BatteryManager;
import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import dev.tracegen.runtime.report.Moment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Finds out whether to send now: there is a network that costs nothing, the device charges or its battery is not low,
 * and the app is in the background or its main thread has nothing to do. Used on the sender's thread, which waits for
 * the main thread; the main thread never waits.
 */
final class GoodMoment implements Moment {
    private static final String STATE = "android.permission.ACCESS_NETWORK_STATE";
    private static final int LOW_PERCENT = 20;

    /** The main thread of an app that scrolls becomes idle between two frames. This one has not for so long. */
    private static final long IDLE_SECONDS = 5;

    private final Context context;
    private final Foreground foreground;
    private final boolean anyNetwork;

    /**
     * Creates it.
     *
     * @param anyNetwork whether a network may cost money
     */
    GoodMoment(Context context, Foreground foreground, boolean anyNetwork) {
        this.context = context;
        this.foreground = foreground;
        this.anyNetwork = anyNetwork;
    }

    @Override
    public String unsuitable() {
        String network = network();
        return network.length() > 0 ? network : batteryIsLow() ? "the battery is low"
                : foreground.isForeground() && !mainIsIdle() ? "the main thread is busy" : "";
    }

    private String network() {
        try {
            // On a thread that serves no other process, it is the permission of this one.
            if (context.checkCallingOrSelfPermission(STATE) != PackageManager.PERMISSION_GRANTED) {
                return anyNetwork ? "" : "whether the network costs money is not known, because the app lacks the"
                        + " permission " + STATE + "; upload-network=any sends anyway";
            }
            ConnectivityManager cm = (ConnectivityManager) context.getSystemService(Context.CONNECTIVITY_SERVICE);
            NetworkInfo info = cm == null ? null : cm.getActiveNetworkInfo();
            if (info == null || !info.isConnected()) {
                return "there is no network";
            }
            return anyNetwork || !cm.isActiveNetworkMetered() ? "" : "the network costs money";
        } catch (Throwable e) {
            return anyNetwork ? "" : "whether the network costs money is not known: " + e;
        }
    }

    private boolean batteryIsLow() {
        try {
            // Without a receiver it only returns the last state.
            Intent battery = context.registerReceiver(null, new IntentFilter(Intent.ACTION_BATTERY_CHANGED));
            if (battery == null) {
                return false;
            }
            int status = battery.getIntExtra(BatteryManager.EXTRA_STATUS, -1);
            int level = battery.getIntExtra(BatteryManager.EXTRA_LEVEL, -1);
            int scale = battery.getIntExtra(BatteryManager.EXTRA_SCALE, -1);
            boolean charges = status == BatteryManager.BATTERY_STATUS_CHARGING
                    || status == BatteryManager.BATTERY_STATUS_FULL;
            return !charges && level >= 0 && scale > 0 && level * 100 / scale < LOW_PERCENT;
        } catch (Throwable e) {
            return false;
        }
    }

    /** Waits until the queue of the main thread is empty, for a short time. */
    private static boolean mainIsIdle() {
        final CountDownLatch idle = new CountDownLatch(1);
        new Handler(Looper.getMainLooper()).post(new Runnable() {
            @Override
            public void run() {
                Looper.myQueue().addIdleHandler(new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        idle.countDown();
                        return false;
                    }
                });
            }
        });
        try {
            return idle.await(IDLE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
