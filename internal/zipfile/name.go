package zipfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// errUnsafeName is wrapped by every error of CheckName.
var errUnsafeName = errors.New("unsafe entry name")

// CheckName returns an error if an entry's name must not be joined to a directory and used as a path on disk: if it
// is empty or absolute, has a drive letter, a backslash, a NUL or a path element "..", or if this operating system
// takes it for something else than a file in that directory (such as NUL on Windows). With any other name, the path
// stays below the directory.
func CheckName(name string) error {
	reason := ""
	switch {
	case name == "":
		reason = "it is empty"
	case strings.ContainsRune(name, 0):
		reason = "it holds a NUL"
	case strings.Contains(name, `\`):
		reason = "it holds a backslash"
	case strings.HasPrefix(name, "/"):
		reason = "it is absolute"
	case len(name) >= 2 && name[1] == ':':
		reason = "it begins with a drive letter"
	case hasParent(name):
		reason = "it contains the path element .."
	case !filepath.IsLocal(filepath.FromSlash(name)):
		reason = "it is not a local path on this system"
	default:
		return nil
	}
	return fmt.Errorf("%w %s: %s", errUnsafeName, printable(name), reason)
}

func hasParent(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == ".." {
			return true
		}
	}
	return false
}
