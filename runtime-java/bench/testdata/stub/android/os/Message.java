package android.os;

/** Named in signatures. */
public final class Message {
}
