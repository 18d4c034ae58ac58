// Package maven runs the Maven plugin in real builds: the projects in maven/src/it, which the invoker plugin builds,
// and examples/maven-app, whose commands are those of docs/maven.md. It also checks what release/maven-repository
// writes.
//
// TRACEGEN_BUILDS decides how much is run: off; small, one project of the invoker and the example; full, all of them
// and a whole release.
package maven
