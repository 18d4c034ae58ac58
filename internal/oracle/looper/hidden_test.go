package looper

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// A member is a method or field of Android that the runtime looks up by reflection although it is public API: it is
// newer than the API level that the runtime is compiled with.
type member struct {
	name string
	// since is the API level that made it public, by Android's reference.
	since int
}

// publicMembers are all of them. A member that is not listed is hidden.
var publicMembers = []member{
	{"Landroid/app/ActivityManager;->getHistoricalProcessExitReasons", 30},
	{"Landroid/app/Application;->getProcessName", 28},
	{"Landroid/app/ApplicationExitInfo;->getDescription", 30},
	{"Landroid/app/ApplicationExitInfo;->getImportance", 30},
	{"Landroid/app/ApplicationExitInfo;->getPid", 30},
	{"Landroid/app/ApplicationExitInfo;->getProcessName", 30},
	{"Landroid/app/ApplicationExitInfo;->getPss", 30},
	{"Landroid/app/ApplicationExitInfo;->getReason", 30},
	{"Landroid/app/ApplicationExitInfo;->getRss", 30},
	{"Landroid/app/ApplicationExitInfo;->getStatus", 30},
	{"Landroid/app/ApplicationExitInfo;->getTimestamp", 30},
	{"Landroid/app/ApplicationExitInfo;->getTraceInputStream", 30},
	{"Landroid/content/Context;->getNoBackupFilesDir", 21},
	{"Landroid/hardware/display/DisplayManager;->getDisplay", 17},
	{"Landroid/os/Debug;->getRuntimeStat", 23},
	{"Landroid/os/Looper;->getQueue", 23},
	{"Landroid/os/Message;->isAsynchronous", 22},
	{"Landroid/os/Message;->setAsynchronous", 22},
	{"Landroid/os/Process;->getStartElapsedRealtime", 24},
	{"Landroid/os/Process;->getStartUptimeMillis", 24},
}

// greylist28 are the hidden members that Android 9 lets every app use, of those that the runtime looks up: they are in
// config/hiddenapi-light-greylist.txt of its source. All other hidden members are denied to an app that targets it.
// The classes of newer versions say themselves which members they let apps use, so that no list is needed for these.
var greylist28 = []string{
	"Landroid/os/Looper;->mLogging",
	"Landroid/os/Looper;->mQueue",
	"Landroid/os/Message;->next",
	"Landroid/os/MessageQueue;->mIdleHandlers",
	"Landroid/os/MessageQueue;->mMessages",
}

// TestPublicMembers compares the list above with the classes of each platform: a member that is public API is declared
// public, and an older version has none. That it is not hidden too, the classes do not say.
func TestPublicMembers(t *testing.T) {
	nightly.Only(t, "looper")
	for _, p := range platforms {
		jar, err := zip.OpenReader(p.fetch(t))
		if err != nil {
			t.Fatal(err)
		}
		defer jar.Close()
		unsupported := []string(nil)
		if p.api > enforced {
			unsupported = p.unsupported(t)
		}
		for _, m := range publicMembers {
			if got, want := declaredPublic(t, jar, m.name), p.api >= m.since; got != want {
				t.Errorf("%s: %s is public: %t, want %t", p.name, m.name, got, want)
			}
			if slices.Contains(unsupported, m.name) {
				t.Errorf("%s: %s is no public API", p.name, m.name)
			}
		}
	}
}

// declaredPublic reports whether a class in a jar declares a public method of that name.
func declaredPublic(t *testing.T, jar *zip.ReadCloser, name string) bool {
	t.Helper()
	class, method, _ := strings.Cut(strings.TrimPrefix(name, "L"), ";->")
	f, err := jar.Open(class + ".class")
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	c := assembly.Parse(t, data)
	return slices.ContainsFunc(c.Methods(), func(m classfile.Member) bool {
		return m.Name == method && m.AccessFlags&classfile.AccPublic != 0
	})
}

// enforced is the first API level that denies apps anything.
const enforced = 28

// target returns the target API level of an app on a platform.
func (p platform) target() int {
	if p.api >= 37 && !p.lockFree {
		// The newest target with which the queue is a list.
		return 36
	}
	return p.api
}

// writeMembers writes a list of members for the class HiddenApi of the device: "public", "unsupported" if an app may
// use it nevertheless, or "newer" if the platform has none, and the member, on each line.
func (p platform) writeMembers(t *testing.T, file string) {
	t.Helper()
	var list strings.Builder
	for _, m := range publicMembers {
		kind := "public"
		if m.since > p.api {
			kind = "newer"
		}
		fmt.Fprintf(&list, "%s %s\n", kind, m.name)
	}
	var unsupported []string
	switch {
	case p.api == 28:
		unsupported = greylist28
	case p.api > 28:
		unsupported = p.unsupported(t)
	}
	for _, name := range unsupported {
		fmt.Fprintf(&list, "unsupported %s\n", name)
	}
	fixture.Write(t, file, list.String())
}

// unsupported returns the hidden members of android.os, android.app and android.view that an app may use on a platform.
// They have the annotation UnsupportedAppUsage. Android's build writes the annotations of each class into a table
// beside it, which is in the jar: the signature and the annotation's values, one of which is the newest target that may
// use it.
func (p platform) unsupported(t *testing.T) (names []string) {
	t.Helper()
	for _, f := range fixture.Unpack(t, fixture.Read(t, p.fetch(t))) {
		switch filepath.ToSlash(filepath.Dir(f.Name)) {
		case "android/os", "android/app", "android/view":
		default:
			continue
		}
		if filepath.Ext(f.Name) != ".uau" {
			continue
		}
		for line := range strings.Lines(f.Data) {
			columns := strings.Split(strings.TrimSpace(line), ",")
			values, err := url.ParseQuery(columns[len(columns)-1])
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			most := values.Get("maxTargetSdk")
			if n, err := strconv.Atoi(most); most == "" || err == nil && p.target() <= n {
				name, _, _ := strings.Cut(columns[0], ":")
				name, _, _ = strings.Cut(name, "(")
				names = append(names, name)
			}
		}
	}
	if !slices.Contains(names, "Landroid/os/MessageQueue;->mIdleHandlers") {
		t.Fatalf("%s: %d members, and not MessageQueue.mIdleHandlers", p.name, len(names))
	}
	return names
}

// lookups are the methods of java.lang.Class that are replaced by those of the same names in HiddenApi.
var lookups = []string{"getField", "getDeclaredField", "getMethod", "getDeclaredMethod", "forName"}

const hiddenApiClass = "dev/tracegen/device/HiddenApi"

// interceptLookups changes the classes below a directory so that they look members up by HiddenApi. A call of a virtual
// method and one of a static method with one parameter more have the same size and leave the same on the stack.
func interceptLookups(t *testing.T, dir string) {
	t.Helper()
	changed := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".class" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out, n, err := intercepted(data)
		if err != nil || n == 0 {
			return err
		}
		changed += n
		return os.WriteFile(path, out, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if changed < 10 {
		t.Fatalf("%d lookups in the classes of %s", changed, dir)
	}
}

func intercepted(data []byte) (out []byte, changed int, err error) {
	class, err := classfile.Parse(data)
	if err != nil {
		return nil, 0, err
	}
	pool := class.ConstantPool()
	edit := classfile.Edit{Constants: classfile.NewPoolBuilder(pool)}
	for k, m := range class.Methods() {
		c, ok, err := class.Code(&m)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue
		}
		attribute, _ := classfile.FindAttribute(m.Attributes, "Code")
		info := bytes.Clone(attribute.Info)
		const begin = 8 // max_stack, max_locals, code_length
		found := 0
		for i, err := range code.Instructions(c.Bytecode) {
			if err != nil {
				return nil, 0, err
			}
			if i.Op != code.Invokevirtual && i.Op != code.Invokestatic {
				continue
			}
			ref, err := pool.Ref(binary.BigEndian.Uint16(c.Bytecode[i.PC+1:]))
			if err != nil {
				return nil, 0, err
			}
			if ref.Class != "java/lang/Class" || !slices.Contains(lookups, ref.Name) {
				continue
			}
			descriptor := ref.Descriptor
			if i.Op == code.Invokevirtual {
				descriptor = "(Ljava/lang/Class;" + descriptor[1:]
			}
			method := edit.Constants.AddMethodref(edit.Constants.Class(hiddenApiClass),
				edit.Constants.NameAndType(ref.Name, descriptor))
			info[begin+i.PC] = byte(code.Invokestatic)
			binary.BigEndian.PutUint16(info[begin+i.PC+1:], method)
			found++
		}
		if found > 0 {
			changed += found
			edit.Codes = append(edit.Codes, classfile.CodeEdit{Method: k, Info: info})
		}
	}
	if err := edit.Constants.Err(); err != nil {
		return nil, 0, err
	}
	out, err = class.Rewrite(edit)
	return out, changed, err
}
