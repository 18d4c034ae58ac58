// Package art runs DEX files on ART, the runtime of Android phones: ART of Android 11 on this machine.
//
// [Need] builds it, the bench, in minutes below the user's cache directory, from Debian's packages and two artifacts of
// Maven; recipe/packages.sha256 lists the packages with their sums. Debian's libart is not changed: its verifier, its
// interpreter and its garbage collector are those of a phone. With [NeedCompiler] it has its optimizing compiler, too,
// as JIT, from Debian's source package of the same version.
//
// The core library, java.*, and its native half are those of Android 10, which is what Debian has as source, with
// dalvik.system, DexCache, FP16 and ICU of Android 11. Of the framework there is what recipe/framework.txt lists: the
// real Looper, Handler and MessageQueue with what they need. Written anew in recipe/src are the program that starts
// ART, the JVM_ functions that the core library calls, and the natives of android.os.
//
// [NeedAhead] adds dex2oat and a boot image, which phones start from: the core library and the framework compiled ahead
// of time. [Bench.CompileAhead] compiles a program, as a phone does when it is idle. The image has the classes that ART
// itself loads, and not those that Android preloads.
//
// # What is missing
//
// Missing are Conscrypt, OkHttp, the data of time zones and, as on a phone, java.awt and java.lang.management.
// java.lang.Runtime returns constants as heap sizes. The processor is an x86-64.
//
// # The recipe
//
// A step of the recipe is a script that fills a directory. The name of the directory has a hash of everything that the
// step depends on, and the directory gets its name when the step is done: a build that was cut off goes on with the
// step, versions of the recipe do not disturb each other, and nothing incomplete is used. A lock keeps two processes
// from building at once.
package art
