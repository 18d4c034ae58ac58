package android.os;

/** As much of it as Matrix touches. */
public class MessageQueue {
    /** As Android has it. */
    public interface IdleHandler {
        boolean queueIdle();
    }

    public void addIdleHandler(IdleHandler handler) {
    }

    public void removeIdleHandler(IdleHandler handler) {
    }
}
