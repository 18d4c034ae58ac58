package code

import (
	"fmt"
	"strings"
)

// DescriptorWords counts the stack words of a method descriptor (JVMS 4.3.3): the words of its arguments without
// `this`, and the words of its result. A long or double takes two words. It fails for a malformed descriptor and for
// one with more than 255 words of arguments.
func DescriptorWords(descriptor string) (arguments, result int, err error) {
	if len(descriptor) == 0 || descriptor[0] != '(' {
		return 0, 0, fmt.Errorf("%q is not a method descriptor", descriptor)
	}
	i := 1
	for i < len(descriptor) && descriptor[i] != ')' {
		words, size := 1, 1
		switch descriptor[i] {
		case 'I', 'Z': // these and classes are nearly all, and need no call
		case 'L':
			size = 1 + strings.IndexByte(descriptor[i:], ';')
		default:
			words, size = fieldWords(descriptor[i:])
		}
		if size == 0 {
			return 0, 0, malformedDescriptor(descriptor)
		}
		if arguments += words; arguments > maxWords {
			return 0, 0, fmt.Errorf("method descriptor %.60q has more than %d words of arguments", descriptor, maxWords)
		}
		i += size
	}
	if i+1 < len(descriptor) && descriptor[i+1:] == "V" {
		return arguments, 0, nil
	}
	if i+1 < len(descriptor) {
		if words, size := fieldWords(descriptor[i+1:]); size == len(descriptor)-i-1 {
			return arguments, words, nil
		}
	}
	return 0, 0, malformedDescriptor(descriptor)
}

func malformedDescriptor(descriptor string) error {
	return fmt.Errorf("malformed method descriptor %q", descriptor)
}

// maxWords is the greatest number of argument words (JVMS 4.3.3) and of array dimensions (JVMS 4.3.2). The limit
// also keeps each call from reading a descriptor of 64 KiB to its end.
const maxWords = 255

// fieldWords returns the stack words and the length of the field descriptor (JVMS 4.3.2) at the start of s. The
// length is 0 if there is none.
func fieldWords(s string) (words, size int) {
	for size < len(s) && size <= maxWords && s[size] == '[' {
		size++
	}
	if size == len(s) || size > maxWords {
		return 0, 0
	}
	switch s[size] {
	case 'L':
		if n := strings.IndexByte(s[size:], ';'); n >= 0 {
			return 1, size + n + 1
		}
		return 0, 0
	case 'B', 'C', 'F', 'I', 'S', 'Z':
		return 1, size + 1
	case 'D', 'J':
		if size > 0 {
			return 1, size + 1
		}
		return 2, 1
	}
	return 0, 0
}
