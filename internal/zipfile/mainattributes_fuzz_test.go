package zipfile

import (
	"strings"
	"testing"
)

// FuzzMainAttributes reads any text as a manifest: what is found is in the text, and is found again when it is written.
func FuzzMainAttributes(f *testing.F) {
	f.Add("Manifest-Version: 1.0\r\nClass-Path: a.jar b\r\n .jar\r\n\r\nName: x\r\nClass-Path: no\r\n")
	f.Add("Class-Path:\rx")
	f.Fuzz(func(t *testing.T, text string) {
		attributes := mainAttributes(text)
		var b strings.Builder
		for name, value := range attributes {
			if strings.ContainsAny(name+value, "\r\n") || strings.Contains(name, ":") {
				t.Errorf("attribute %q is %q", name, value)
			}
			if strings.HasPrefix(name, " ") {
				return // of the first line; behind another one it would continue that
			}
			b.WriteString(name + ": " + value + "\n")
		}
		again := mainAttributes(b.String())
		for name, value := range attributes {
			if again[name] != value {
				t.Errorf("attribute %q is %q, and %q after writing", name, value, again[name])
			}
		}
	})
}
