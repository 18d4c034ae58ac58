// Package looper runs the runtime's Android part on Android's own classes: Looper, MessageQueue, Handler, Message,
// HandlerThread, Choreographer and what they need, as Maven's org.robolectric:android-all has them, on a desktop JVM.
// None of these classes is replaced or changed. Their native methods are in testdata/native, compiled here with gcc.
// The other parts of a device that they need are in testdata/device. The proofs are tests in Java, in testdata/proofs,
// one method each, run on a main looper that really loops. The app in testdata/sample runs with the runtime and with
// the no-op.
//
// Android has three message queues: the list of messages in all versions up to Android 16, the same list in Android 17
// for apps that target an older version, and Android 17's lock-free queue. Which of the last two is used is decided as
// on a device, by the list of compatibility changes that are disabled for the app.
//
// Three things are not Android's here: ART, the display (a timer of 60 Hz), and the policy that keeps apps from hidden
// members. Here that policy permits everything, unlike on a device. The proofs that need no view system also run on the
// ART of Android 11, of package art.
package looper
