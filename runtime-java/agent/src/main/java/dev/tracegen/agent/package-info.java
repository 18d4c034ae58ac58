/**
 * The Java agent of {@code tracegen record}. It instruments nothing: tracegen has written and checked the rewritten
 * class files before the program starts. When the JVM loads a class that one of these files replaces, the agent
 * returns the file.
 */
package dev.tracegen.agent;
