package code

import "fmt"

// DescriptorWords counts the stack words of a method descriptor (JVMS 4.3.3): those of its arguments without
// this, and those of its result. long and double take two.
func DescriptorWords(descriptor string) (arguments, result int, err error) {
	if len(descriptor) == 0 || descriptor[0] != '(' {
		return 0, 0, fmt.Errorf("%q is no method descriptor", descriptor)
	}
	i := 1
	for i < len(descriptor) && descriptor[i] != ')' {
		words, size := fieldWords(descriptor[i:])
		if size == 0 {
			return 0, 0, fmt.Errorf("malformed method descriptor %q", descriptor)
		}
		arguments += words
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
	return 0, 0, fmt.Errorf("malformed method descriptor %q", descriptor)
}

// fieldWords measures the field descriptor (JVMS 4.3.2) that s starts with: its stack words and its length,
// which is 0 if there is none.
func fieldWords(s string) (words, size int) {
	for size < len(s) && s[size] == '[' {
		size++
	}
	if size == len(s) {
		return 0, 0
	}
	switch s[size] {
	case 'L':
		for i := size + 1; i < len(s); i++ {
			if s[i] == ';' {
				return 1, i + 1
			}
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
