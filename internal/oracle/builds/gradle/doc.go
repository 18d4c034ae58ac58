// Package gradle holds the tests of the Gradle plugin with JVM projects: real builds by real Gradle.
package gradle
