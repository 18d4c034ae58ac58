package mapping

import "testing"

// TestWithoutComposer has descriptors of composables, and of methods that only look like them.
func TestWithoutComposer(t *testing.T) {
	const composer = "Landroidx/compose/runtime/Composer;"
	for _, test := range []struct {
		descriptor, want string
		composable       bool
	}{
		{"(" + composer + "I)V", "()V", true},
		{"(Ljava/lang/String;I" + composer + "II)I", "(Ljava/lang/String;I)I", true},
		{"(J" + composer + "IIII)V", "(J)V", true},

		{"(" + composer + ")V", "", false},
		{"(" + composer + "J)V", "", false},
		{"(" + composer + "IZ)V", "", false},
		{"(I)" + composer, "", false},
		{"(Lb" + composer + "I", "", false},
		{"", "", false},
	} {
		got, ok := WithoutComposer(test.descriptor)
		if ok != test.composable || ok && got != test.want {
			t.Errorf("%s: %s, %t; want %s, %t", test.descriptor, got, ok, test.want, test.composable)
		}
	}
}
