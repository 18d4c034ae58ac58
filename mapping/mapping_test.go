package mapping

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/oracle/golden"
)

// method returns the Method "class|name|descriptor" with access flags 1.
func method(key string) Method {
	fields := strings.Split(key, "|")
	return Method{Identity{fields[0], fields[1], fields[2]}, 1}
}

func methods(keys ...string) []Method {
	var list []Method
	for _, key := range keys {
		list = append(list, method(key))
	}
	return list
}

func mustAssign(t testing.TB, list []Method, o Options) *Mapping {
	t.Helper()
	m, err := Assign(list, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func written(t testing.TB, m *Mapping) string {
	t.Helper()
	var b strings.Builder
	n, err := m.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d, %v; wrote %d", n, err, b.Len())
	}
	return b.String()
}

var oddNames = methods(
	"com/example/Foo|bar|(ILjava/lang/String;)V",
	"com/example/Foo|<init>|()V",
	"com/example/Foo$1|run|()V",
	"com/example/Fo|o|()V",
	"NoPackage|main|([Ljava/lang/String;)V",
	"com/example/SpecTest|reads it, then 100% closes #1|()V",
	"com/example/Malformed|a.b|()V",
	"com/example/Malformed|a/b|()V",
	"com/example/Malformed|\xff\x00\n|()V",
	"com/example/Ünïcode|名前|()V",
	"com/example/Emoji|\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd|()V",
	"com/example/Nul|a\xc0\x80b|()V",
	"android/os/Handler|dispatchMessage|(Landroid/os/Message;)V",
)

func TestGolden(t *testing.T) {
	first := mustAssign(t, oddNames, Options{Focus: []Focus{
		{"com/example/ÜActivity", FocusHook}, {"com/example/MainActivity", FocusAdd},
	}})
	later := append(methods("com/example/Foo|added|()V"), oddNames[2:]...)
	compact := mustAssign(t, oddNames, Options{Order: OrderCompact, Runtime: matrixRuntime})
	for name, m := range map[string]*Mapping{
		"empty":         mustAssign(t, nil, Options{}),
		"hash":          first,
		"compact":       compact,
		"hash-later":    mustAssign(t, later, Options{Base: first}),
		"compact-later": mustAssign(t, later, Options{Base: compact, Order: OrderCompact}),
	} {
		t.Run(name, func(t *testing.T) {
			text := written(t, m)
			golden.Compare(t, filepath.Join("testdata", name+".golden"), text)
			again, err := Parse(name, text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text, written(t, again)); diff != "" {
				t.Errorf("read and written (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(slices.Collect(m.All()), slices.Collect(again.All())); diff != "" {
				t.Errorf("All after reading (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(m.Focus(), again.Focus()); diff != "" {
				t.Errorf("Focus after reading (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAccessors(t *testing.T) {
	base := mustAssign(t, methods("a/A|gone|()V", "a/A|stays|()V"), Options{Order: OrderCompact})
	m := mustAssign(t, methods("a/A|stays|()V", "a/B|comes|()V"), Options{Base: base, Order: OrderCompact})
	stays := Entry{2, method("a/A|stays|()V"), false}
	comes := Entry{3, method("a/B|comes|()V"), false}
	gone := Entry{1, method("a/A|gone|()V"), true}
	if diff := cmp.Diff([]Entry{stays, comes}, slices.Collect(m.All())); diff != "" {
		t.Errorf("All (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Entry{gone}, slices.Collect(m.Retired())); diff != "" {
		t.Errorf("Retired (-want +got):\n%s", diff)
	}
	for e := range m.All() {
		if e.ID != 2 {
			t.Errorf("the first of All is %v", e)
		}
		break
	}
	if m.Len() != 2 || m.Headroom() != Capacity-3 || m.Runtime() != contract.RuntimeClass {
		t.Errorf("Len %d, Headroom %d, Runtime %s", m.Len(), m.Headroom(), m.Runtime())
	}
	for id, want := range map[uint32]string{
		1: "# retired 1,1,a.A gone ()V", 2: "2,1,a.A stays ()V", 3: "3,1,a.B comes ()V",
		DispatchID: "1048574,1,android.os.Handler dispatchMessage (Landroid.os.Message;)V",
		0:          "", 4: "", DispatchID + 1: "", 1<<32 - 1: "",
	} {
		got := ""
		if e, ok := m.ByID(id); ok {
			got = e.Line()
		}
		if got != want {
			t.Errorf("ByID(%d) = %q, want %q", id, got, want)
		}
	}
	if id, ok := m.ByMethod(comes.Identity); !ok || id != 3 {
		t.Errorf("ByMethod(comes) = %d, %v", id, ok)
	}
	for _, none := range []string{"a/A|gone|()V", "a/A|stays|()I", "a/A.stays|x|()V",
		"android/os/Handler|dispatchMessage|(Landroid/os/Message;)V"} {
		if id, ok := m.ByMethod(method(none).Identity); ok {
			t.Errorf("ByMethod(%s) = %d, want none", none, id)
		}
	}
}

func TestWriteLines(t *testing.T) {
	m := mustAssign(t, methods("a/A|f|()V", "a/A|g|()V", "a/A|h|()V"), Options{Order: OrderCompact})
	var b strings.Builder
	lines := []SourceLine{{3, "", 0}, {2, "A b\t%.kt", 70000}, {1, "src/A.java", 9}, {1, "src/A.java", 7},
		{1, "src/B.java", 1}}
	before := slices.Clone(lines)
	err := m.WriteLines(&b, lines)
	if !slices.Equal(lines, before) {
		t.Error("WriteLines changed its argument")
	}
	want := "# tracegen-lines 1\n# digest " + m.Digest() + "\n1\tsrc/A.java\t7\n2\tA%20b%09%25.kt\t70000\n3\t\t0\n"
	if err != nil || b.String() != want {
		t.Errorf("got %q, %v, want %q", b.String(), err, want)
	}
	b.Reset()
	if err := m.WriteLines(&b, []SourceLine{{1, "A.java", 1}, {4, "A.java", 1}}); err == nil || b.Len() > 0 {
		t.Errorf("unknown ID: %v, wrote %q", err, b.String())
	}
}

// failing is a writer that fails after some bytes, like a full disk.
type failing struct{ room int }

func (f *failing) Write(p []byte) (int, error) {
	if f.room < len(p) {
		return f.room, os.ErrClosed
	}
	f.room -= len(p)
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	m := mustAssign(t, oddNames, Options{})
	if _, err := m.WriteTo(&failing{100}); err != os.ErrClosed {
		t.Errorf("WriteTo: %v", err)
	}
	if err := m.WriteLines(&failing{10}, nil); err != os.ErrClosed {
		t.Errorf("WriteLines: %v", err)
	}
}
