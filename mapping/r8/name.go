package r8

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// Within the package, names are as in the file, with dots and in UTF-8. fileName and rawName convert from and to the
// names in class files.

// fileName converts a name in a class file to the form of a mapping file. A name that cannot be expressed in UTF-8 is
// not decoded; no mapping contains such a name.
func fileName(raw string) string {
	if decoded, ok := classfile.DecodeMUTF8(raw); ok {
		raw = decoded
	}
	return strings.ReplaceAll(raw, "/", ".")
}

// rawName converts a name in a mapping file to the form of a class file.
func rawName(name string) string {
	return classfile.EncodeMUTF8(strings.ReplaceAll(name, ".", "/"))
}

// primitives are the types that are not classes, in both forms.
var primitives = map[string]string{
	"boolean": "Z", "byte": "B", "char": "C", "double": "D", "float": "F",
	"int": "I", "long": "J", "short": "S", "void": "V",
}

// appendType appends the descriptor of a type such as "int" or "a.b[]", with each class renamed by rename. The
// descriptor has the dots of the file.
func appendType(dst []byte, typ string, rename func(string) string) []byte {
	for strings.HasSuffix(typ, "[]") {
		dst = append(dst, '[')
		typ = typ[:len(typ)-2]
	}
	if p, ok := primitives[typ]; ok {
		return append(dst, p...)
	}
	dst = append(append(dst, 'L'), rename(typ)...)
	return append(dst, ';')
}

// descriptor returns the descriptor, with dots, of a method with a return type and arguments "int,a.b[]", with each
// class renamed by rename.
func descriptor(returns, arguments string, rename func(string) string) string {
	d := make([]byte, 0, 64)
	d = append(d, '(')
	for arguments != "" {
		var arg string
		arg, arguments, _ = strings.Cut(arguments, ",")
		d = appendType(d, arg, rename)
	}
	return string(appendType(append(d, ')'), returns, rename))
}

func same(class string) string { return class }

// renamed returns a descriptor, with dots, in which each class is renamed. If the text is not a descriptor the result
// is not specified, but is computed in linear time.
func renamed(descriptor string, rename func(string) string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(descriptor, 'L')
		end := strings.IndexByte(descriptor, ';')
		if i < 0 || end < i {
			b.WriteString(descriptor)
			return b.String()
		}
		b.WriteString(descriptor[:i+1])
		b.WriteString(rename(descriptor[i+1 : end]))
		b.WriteByte(';')
		descriptor = descriptor[end+1:]
	}
}
