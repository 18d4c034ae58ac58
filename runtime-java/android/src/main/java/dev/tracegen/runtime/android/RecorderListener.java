package dev.tracegen.runtime.android;

import android.os.Message;
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
        if (dispatch.text() != null) {
            PostedBy.began(trace, dispatch.text());
        }
    }

    @Override
    public void dispatchEnd(Dispatch dispatch) {
        if (dispatch.text() == null) {
            trace.describe(dispatch.what(), dispatch.handler(), dispatch.callback());
            Message message = dispatch.message();
            if (message != null) {
                PostedBy.ended(trace, message.getTarget(), message.getCallback(), message.what, dispatch.beginNanos());
            }
        }
        trace.messageEnd();
    }

    @Override
    public void queueIdle() {
        trace.mark();
    }
}
