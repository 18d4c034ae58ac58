// Package launch takes a command line of the java program apart, finds the archives and directories that the program's
// classes come from, and runs the program.
//
// [Parse] follows the launcher of the JDK (libjli: args.c and java.c): argument files, JDK_JAVA_OPTIONS, options with
// a value of their own, and where the options end. [Command.Containers] follows the class path as the JVM does:
// wildcards, the Class-Path of manifests, and what is missing is left out. It does not change the command:
// [Command.With] puts JVM options in front of those that are there.
//
// A start script is not taken apart. [Shims] passes the options to the JVMs that it starts, in JAVA_TOOL_OPTIONS: JDK 8
// has no JDK_JAVA_OPTIONS, which is reported on standard error, too, and is not read by JVMs that java does not start.
//
// [Run] starts a program with the streams of this one, passes signals on, and waits until the program has ended.
package launch
