package sample;

import android.app.Activity;
import dev.tracegen.runtime.AppMethodBeat;

/** A class that an earlier build has instrumented, under either name. This build leaves it unchanged. */
final class Traced {
    private Traced() {
    }

    static void calls() {
        AppMethodBeat.i(5);
        AppMethodBeat.o(5);
        AppMethodBeat.at((Activity) null, true);
        com.tencent.matrix.trace.core.AppMethodBeat.i(5);
        com.tencent.matrix.trace.core.AppMethodBeat.o(5);
        com.tencent.matrix.trace.core.AppMethodBeat.at((Activity) null, true);
    }
}
