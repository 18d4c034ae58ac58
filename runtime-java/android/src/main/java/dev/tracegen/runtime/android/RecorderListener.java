package dev.tracegen.runtime.android;

import dev.tracegen.runtime.PostedBy;
import dev.tracegen.runtime.ThreadTrace;

/** Reports the messages of a Looper to the recorder. */
final class RecorderListener extends DispatchListener {
    private final ThreadTrace trace;

    RecorderListener(ThreadTrace trace) {
        this.trace = trace;
    }

    @Override
    public void dispatchStart(Dispatch dispatch) {
        if (dispatch.isIdleHandler()) {
            trace.idleHandlerBegin(dispatch.text());
            return;
        }
        trace.messageBegin(dispatch.text());
        PostedBy.began(trace, dispatch.text());
    }

    @Override
    public void dispatchEnd(Dispatch dispatch) {
        trace.messageEnd();
    }

    @Override
    public void queueIdle() {
        trace.mark();
    }
}
