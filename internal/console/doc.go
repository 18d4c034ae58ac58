// Package console has the messages of a command, in each format of --log-format, and the streams to which they go.
package console
