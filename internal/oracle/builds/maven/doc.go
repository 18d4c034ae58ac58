// Package maven runs the Maven plugin in real builds: the projects in maven/src/it, which the invoker plugin builds,
// and examples/maven-app, whose commands are those of docs/maven.md. It also checks what release/maven-repository
// writes.
//
// The share of `make nightly` builds one project of the invoker and the example; `make builds` builds all of them, and
// a whole release.
package maven
