package dev.tracegen.runtime.android;

import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.PackageManager;
import android.net.ConnectivityManager;
import android.net.NetworkInfo;
import android.os.BatteryManager;
import dev.tracegen.runtime.report.Moment;

/**
 * Finds out whether to send now: there is a network that costs nothing, and the device charges or its battery is not
 * low. Used on the sender's thread.
 */
final class GoodMoment implements Moment {
    private static final String STATE = "android.permission.ACCESS_NETWORK_STATE";
    private static final int LOW_PERCENT = 20;

    private final Context context;
    private final boolean anyNetwork;

    /**
     * Creates it.
     *
     * @param anyNetwork whether a network may cost money
     */
    GoodMoment(Context context, boolean anyNetwork) {
        this.context = context;
        this.anyNetwork = anyNetwork;
    }

    @Override
    public String unsuitable() {
        String network = network();
        return network.length() > 0 ? network : batteryIsLow() ? "the battery is low" : "";
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
}
