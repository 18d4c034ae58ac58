// Package fleet has the commands for many devices and releases: group, compare, collect and mappings.
package fleet
