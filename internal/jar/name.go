package jar

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ErrUnsafeName is wrapped by every error of CheckName.
var ErrUnsafeName = errors.New("unsafe entry name")

// CheckName reports whether an entry's name may be joined to a directory and used as a path on disk:
// it returns an error for a name that is empty, absolute, has a drive letter, a backslash, a NUL, a
// ".." between slashes, or that this operating system takes for something else than a file below
// (such as NUL on Windows). Any other name, however odd, stays below the directory.
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
		reason = "it climbs out with .."
	case !filepath.IsLocal(filepath.FromSlash(name)):
		reason = "it is no local path on this system"
	default:
		return nil
	}
	return fmt.Errorf("%w %s: %s", ErrUnsafeName, printable(name), reason)
}

func hasParent(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == ".." {
			return true
		}
	}
	return false
}
