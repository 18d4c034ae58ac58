package dev.tracegen.runtime.android;

import android.app.ActivityManager;
import android.content.Context;
import android.os.Process;
import dev.tracegen.runtime.detector.AnrEvidence;
import java.util.List;

/** Asks Android whether this process does not respond. */
final class ErrorState implements AnrEvidence {
    private final ActivityManager manager;

    ErrorState(Context context) {
        manager = (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
    }

    @Override
    public String state() {
        List<ActivityManager.ProcessErrorStateInfo> all = manager == null ? null : manager.getProcessesInErrorState();
        if (all != null) {
            for (ActivityManager.ProcessErrorStateInfo info : all) {
                if (info.pid == Process.myPid()
                        && info.condition == ActivityManager.ProcessErrorStateInfo.NOT_RESPONDING) {
                    return info.shortMsg + "\n" + info.longMsg;
                }
            }
        }
        return null;
    }
}
