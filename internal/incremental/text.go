package incremental

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Text returns a text of options, for [Options].ScanKey and WriteKey: of each struct its fields with their names, so that no
// field can be forgotten. A field is a boolean, number or string, something with a String method, or a list of these. Text
// panics if there is another one: a pointer, for instance, would be a number that is another one in the next run. Set such
// a field to nil, and add a text that stands for what it points to.
func Text(options ...any) string {
	var b strings.Builder
	for _, o := range options {
		appendText(&b, reflect.ValueOf(o))
		b.WriteByte('\n')
	}
	return b.String()
}

func appendText(b *strings.Builder, v reflect.Value) {
	switch kind := v.Kind(); {
	case kind == reflect.Pointer && v.IsNil():
		b.WriteString("nil")
	case v.CanInterface() && v.Type().Implements(stringer):
		b.WriteString(strconv.Quote(v.Interface().(fmt.Stringer).String()))
	case kind == reflect.Bool, v.CanInt(), v.CanUint():
		fmt.Fprint(b, v)
	case kind == reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	case kind == reflect.Slice:
		fmt.Fprintf(b, "%d[", v.Len())
		for i := range v.Len() {
			appendText(b, v.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case kind == reflect.Struct:
		b.WriteString(v.Type().String() + "{")
		for i := range v.NumField() {
			b.WriteString(v.Type().Field(i).Name + ":")
			appendText(b, v.Field(i))
			b.WriteByte(' ')
		}
		b.WriteByte('}')
	default:
		panic(fmt.Sprintf("incremental: no text for a %s", v.Type()))
	}
}

var stringer = reflect.TypeFor[fmt.Stringer]()
