// Package read has the commands that read recordings and mappings: analyze, symbolize and lookup.
package read
