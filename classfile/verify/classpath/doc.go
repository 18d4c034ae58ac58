// Package classpath finds the classes that the type checker needs besides the one it checks. [Open] opens a class path;
// the result implements [types.Hierarchy].
//
// A class path is a list of containers: jars and .aar files, the .jmod files of a JDK, directories of class files, and
// the image of a JDK (lib/modules). The first container that has a class wins. Nothing is read before it is needed, and
// the classes are kept up to a bound, so that the memory does not depend on the size of the class path.
//
//   - archive.go reads jars, .aar and .jmod files, and chooses among the classes of a multi-release jar.
//   - jimage.go looks up a class in the image of a JDK, and jimagepacked.go decompresses it.
package classpath
