package devicereport

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// whole has every field of the schema.
const whole = `{"format":"tracegen-report","version":1,"id":"0123456789abcdef-s5-1","kind":"message","detector":"looper",` +
	`"basic":{"package":"com.example","versionName":"1.2","versionCode":"12","buildId":"b","mapping":"e69c7a6d3eaeddc0",` +
	`"manufacturer":"Google","device":"Pixel 7","abi":"arm64-v8a","sdk":34,"process":"com.example","pid":77,"session":"5e",` +
	`"user":"ann","scene":"Main","foreground":true,"thread":"main","what":"Handler (a.b) null: 1"},` +
	`"timing":{"wallMillis":1700000000000,"durationMillis":1000.5,"suspendedMillis":200,"cpuMillis":790.25,"gcCount":3,` +
	`"gcMillis":12,"ended":true},"cpu":{"load":1.5,"governor":"schedutil"},` +
	`"stack":{"key":"k","hotPath":[17,97],"calls":[{"depth":0,"id":17,"count":1,"millis":1000},` +
	`{"depth":0,"id":17,"count":1},{"depth":-1,"id":17,"count":1,"millis":1},{"depth":0,"id":"a","count":1,"millis":1},7],` +
	`"samples":[{"thread":"main","state":"RUNNABLE","nanos":5,"count":2,"frames":["a.B.c(B.java:1)"]}],` +
	`"lockOwner":"worker holds x.Y","postedBy":99},"facts":{"a":"b"},"detectors":{"watchdog":"on"},` +
	`"recording":"0123456789abcdef","later":[null,{"x":1e5}]}`

// TestWhole reads a report with every field of the schema.
func TestWhole(t *testing.T) {
	r, err := Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	n := func(v int64) *int64 { return &v }
	d := func(v time.Duration) *time.Duration { return &v }
	yes, poster := true, uint32(99)
	want := &Report{
		ID: "0123456789abcdef-s5-1", Recording: "0123456789abcdef", Kind: "message", Detector: "looper",
		Package: "com.example", VersionName: "1.2", VersionCode: "12", BuildID: "b", Mapping: "e69c7a6d3eaeddc0",
		Manufacturer: "Google", Device: "Pixel 7", ABI: "arm64-v8a", SDK: n(34), Process: "com.example", PID: n(77),
		Session: "5e", User: "ann", Scene: "Main", Foreground: &yes, Thread: "main", What: "Handler (a.b) null: 1",
		Began: n(1700000000000), Duration: d(1000500 * time.Microsecond), Suspended: d(200 * time.Millisecond),
		CPU: d(790250 * time.Microsecond), GCCount: n(3), GC: d(12 * time.Millisecond), Ended: &yes,
		Key: "k", HotPath: []uint32{17, 97}, Calls: []Call{{17, 0, 1, time.Second}}, // the other ones are wrong
		Samples:   []Sample{{Thread: "main", State: "RUNNABLE", Count: 2, Frames: []string{"a.B.c(B.java:1)"}}},
		LockOwner: "worker holds x.Y", PostedBy: &poster, Facts: map[string]string{"a": "b"},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if ran := r.Ran(); ran != 800500*time.Microsecond {
		t.Errorf("ran %s", ran)
	}
}

// TestLeast reads a report with what must be there alone: what is unknown is absent, and is not guessed.
func TestLeast(t *testing.T) {
	r, err := Parse(`{"format":"tracegen-report","version":1,"id":"a-i1","kind":"sync-barrier","basic":null}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&Report{ID: "a-i1", Recording: "a", Kind: "sync-barrier"}); !reflect.DeepEqual(r, want) {
		t.Errorf("%+v", r)
	}
}

// TestRefusals has texts that are no report at all, and reports that break the schema; the error says which field.
func TestRefusals(t *testing.T) {
	with := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the text ends"},
		{"cut", whole[:200], "the text ends"},
		{"more", whole + "}", "more text behind"},
		{"not UTF-8", with("ann", "a\xffn"), "not UTF-8"},
		{"surrogate", with("ann", `\ud800`), "surrogate pair"},
		{"control", with("ann", "a\x01n"), "invalid character"},
		{"escape", with("ann", `\x41`), "invalid character"},
		{"twice", with(`"kind":"message"`, `"kind":"message","kind":"input"`), "there twice"},
		{"twice, escaped", with(`"kind":"message"`, `"kind":"message","k\u0069nd":"input"`), "there twice"},
		{"twice of many", with(`"later"`, strings.Join(numbered(40), ",")+`,"x3":1,"later"`), "there twice"},
		{"deep", with(`"later":[`, `"later":[`+strings.Repeat("[", 40)), "nested deeper"},
		{"long number", with("1000.5", strings.Repeat("9", 41)), "a number of 41 characters"},
		{"bad number", with("1000.5", "01"), "invalid character"},
		{"bad number", with("1000.5", "1."), "invalid character"},
		{"NaN", with("1000.5", "NaN"), "invalid character"},
		{"array", "[]", "not a report"},
		{"another format", with("tracegen-report", "tracegen"), "not a report"},
		{"no id", with(`"id":"0123456789abcdef-s5-1",`, ""), "not a report"},
		{"id of a path", with("0123456789abcdef-s5-1", "../../etc-s5"), "is not of the form"},
		{"id in capitals", with("0123456789abcdef-s5-1", "ABCDEF-s5"), "is not of the form"},

		{"version", with(`"version":1`, `"version":2`), "!version"},
		{"kind", with(`"kind":"message",`, ""), "!kind is missing"},
		{"kind of a path", with(`"kind":"message"`, `"kind":"../x"`), "!kind is"},
		{"package of a path", with(`"package":"com.example"`, `"package":"../x"`), "!basic.package"},
		{"package, absolute", with(`"package":"com.example"`, `"package":"/x"`), "!basic.package"},
		{"package with NUL", with(`"package":"com.example"`, `"package":"a\u0000"`), "!basic.package"},
		{"package, long", with(`"package":"com.example"`, `"package":"`+strings.Repeat("a", 201)+`"`), "!basic.package"},
		{"package of dots", with(`"package":"com.example"`, `"package":".."`), "!basic.package"},
		{"mapping", with(`"mapping":"e69c7a6d3eaeddc0"`, `"mapping":"x/y"`), "!basic.mapping"},
		{"type", with(`"sdk":34`, `"sdk":"34"`), "!basic.sdk is a string, not a number"},
		{"group", with(`"facts":{"a":"b"}`, `"facts":[]`), "!facts is an array"},
		{"huge", with("1000.5", "1e300"), "!timing.durationMillis"},
		{"infinite", with("1000.5", "1e999"), "!timing.durationMillis"},
		{"infinite, of no field", with(`"facts":`, `"more":[-4e1000],"facts":`), "!the number -4e1000 is larger"},
		{"negative", with("1000.5", "-1"), "!timing.durationMillis"},
		{"fraction", with("1700000000000", "1.5"), "!timing.wallMillis"},
		{"method", with("[17,97]", "[17,1048576]"), "!stack.hotPath[1]"},
		{"many", with("[17,97]", "["+strings.Repeat("1,", 1000)+"1]"), "!stack.hotPath has 1001 items"},
		{"frame", with(`"a.B.c(B.java:1)"`, "7"), "!stack.samples[0].frames[0]"},
		{"recording", with(`"recording":"0123456789abcdef"`, `"recording":"ff"`), "!recording"},
		{"fact", with(`{"a":"b"}`, `{"a":5}`), "!facts.a is a number"},
		{"name of a fact", with(`{"a":"b"}`, `{"`+strings.Repeat("a", 201)+`":"b"}`), "!facts has a name of 201 bytes"},
		{"NUL", with("Main", `\u0000`), "!basic.scene has a character of code 0"},
		{"overlong UTF-8", with("ann", "a\xc0\x80n"), "not UTF-8"},
		{"long text", with(`"Main"`, `"`+strings.Repeat("a", 5000)+`"`), "!basic.scene has 5000 bytes"},
	} {
		_, err := Parse(c.text)
		invalid := (*InvalidError)(nil)
		want, ofReport := strings.CutPrefix(c.want, "!")
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &invalid) != ofReport {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func numbered(n int) (members []string) {
	for i := range n {
		members = append(members, `"x`+string(rune('0'+i/10))+string(rune('0'+i%10))+`":1`, `"x`+string(rune('0'+i))+`":1`)
	}
	return members
}

// TestReportsKeepNoText keeps reports of long texts.
//
// Invariant: A report does not keep its text in memory.
func TestReportsKeepNoText(t *testing.T) {
	long := strings.Replace(whole, `{"x":1e5}`, `"`+strings.Repeat("x", 1<<20)+`"`, 1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var kept []*Report
	for range 32 {
		r, err := Parse(strings.Clone(long))
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, r)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 4<<20 {
		t.Errorf("%d reports keep %d bytes", len(kept), more)
	}
}

// FuzzParse reads what was accepted again.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(`{"a":[1,-2.5e+7,"\u00e9\ud83d\ude00\\"],"b":{"c":null,"d":true}}`)
	f.Add(`{"format":"tracegen-report","version":1,"id":"a-i1","kind":"x"}`)
	f.Add("4e1000")
	f.Add("[1e-1000,4e308]")
	f.Fuzz(func(t *testing.T, text string) {
		if v, _, err := parseJSON(text); err == nil {
			if !json.Valid([]byte(text)) {
				t.Fatal("encoding/json refuses it")
			}
			again, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if other, _, err := parseJSON(string(again)); err != nil || !reflect.DeepEqual(v, other) {
				t.Fatalf("%#v, read again %#v, %v", v, other, err)
			}
		}
		if r, err := Parse(text); err == nil {
			if r.Package != "" && !IsPackage(r.Package) || !IsRecordingID(r.Recording) || r.Ran() < 0 {
				t.Fatalf("%+v", r)
			}
			if id, err := ID(text); err != nil || id != r.ID {
				t.Fatalf("ID returns %q, %v, want %q", id, err, r.ID)
			}
		}
	})
}
