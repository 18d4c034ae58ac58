/**
 * The Maven plugin. Each goal resolves the tracegen binary for this machine through Maven's own resolver, and runs it.
 * All decisions about classes are those of the binary; the plugin names its inputs and outputs.
 */
package dev.tracegen.maven;
