package zipfile

import (
	"errors"
	"testing"
)

// Invariant: The name of an archive's entry never leads out of the output directory.
func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"a": "", "a/b/C.class": "", "dir/": "", "..a/b..": "", "a/...": "", "./a": "", "a//b": "", "\xff\xfe": "",
		"ü.txt":        "",
		"":             `unsafe entry name : it is empty`,
		"/etc/passwd":  `unsafe entry name /etc/passwd: it is absolute`,
		"//host/share": `unsafe entry name //host/share: it is absolute`,
		"..":           `unsafe entry name ..: it contains the path element ..`,
		"../x":         `unsafe entry name ../x: it contains the path element ..`,
		"a/../../x":    `unsafe entry name a/../../x: it contains the path element ..`,
		"a/..":         `unsafe entry name a/..: it contains the path element ..`,
		"a/../b":       `unsafe entry name a/../b: it contains the path element ..`,
		`..\x`:         `unsafe entry name ..\x: it holds a backslash`,
		`a\b`:          `unsafe entry name a\b: it holds a backslash`,
		"C:/x":         `unsafe entry name C:/x: it begins with a drive letter`,
		"c:x":          `unsafe entry name c:x: it begins with a drive letter`,
		"a\x00b":       `unsafe entry name "a\x00b": it holds a NUL`,
	} {
		err := CheckName(name)
		switch {
		case want == "" && err != nil:
			t.Errorf("CheckName(%q): %v", name, err)
		case want != "" && (err == nil || err.Error() != want || !errors.Is(err, errUnsafeName)):
			t.Errorf("CheckName(%q): error %v, want %s", name, err, want)
		}
	}
}
