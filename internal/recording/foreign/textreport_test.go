package foreign

import "testing"

func TestRecords(t *testing.T) {
	for _, row := range []struct {
		text   string
		want   Record
		length int
	}{
		{"0,97,1,2859", Record{0, 97, 1, 2859}, 11},
		{`2,99,30,5\n`, Record{2, 99, 30, 5}, 9},
		{"0,97,1,2859,com.example.Feed.load", Record{}, 0}, // it has a name already
		{"0,97,1", Record{}, 0},
		{"0,97,1,2.5", Record{}, 0},
		{"0,0,1,5", Record{}, 0},       // no method has the ID 0
		{"0,1048575,1,5", Record{}, 0}, // nor one behind the dispatch
	} {
		got, length := CutRecord(row.text)
		if length != row.length || length > 0 && got != row.want {
			t.Errorf("%q: %v, %d characters; want %v, %d", row.text, got, length, row.want, row.length)
		}
	}
	r, name, ok := TableRow("|*    ..99 30 2859 com.example.Feed.load")
	if !ok || r != (Record{2, 99, 30, 2859}) || name != "com.example.Feed.load" {
		t.Errorf("the row is %v, %q, %t", r, name, ok)
	}
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]Key{
		`"stack":"0,97,1,5`:       {Value: 9, Quoted: true},
		`\"stack\":\"0,97,1,5`:    {Value: 12, Quoted: true},
		"stack = 0,97,1,5":        {Value: 8},
		`{"stackKey":"97|99|"}`:   {Value: 13, Quoted: true, StackKey: true},
		"the stack is: 0,97,1,5":  {},
		"haystack = 0,97,1,5":     {},
		`"stack":"java.lang.Run"`: {},
	} {
		if got, ok := NextKey(text); got != want || ok != (want.Value > 0) {
			t.Errorf("%s: %+v, %t; want %+v", text, got, ok, want)
		}
	}
	if id, n := CutStackKey("97|99|"); id != 97 || n != 2 {
		t.Errorf("the first ID is %d, %d characters", id, n)
	}
	if id, n := CutStackKey("97"); id != 0 || n != 0 {
		t.Errorf("without a bar: %d, %d characters", id, n)
	}
}

// TestBlock: lines of four numbers are records only if something speaks for it.
func TestBlock(t *testing.T) {
	known := func(id int64) bool { return id < 100 }
	for _, row := range []struct {
		name      string
		announced bool
		records   []Record
		want      bool
	}{
		{"announced", true, []Record{{3, 500, 1, 9}}, true},
		{"a dispatch", false, []Record{{0, 1048574, 1, 9}}, true},
		{"known methods, each within its caller's cost", false, []Record{{0, 1, 1, 9}, {1, 2, 1, 5}, {1, 3, 1, 4}},
			true},
		{"too few", false, []Record{{0, 1, 1, 9}, {1, 2, 1, 5}}, false},
		{"unknown methods", false, []Record{{0, 500, 1, 9}, {1, 501, 1, 5}, {1, 3, 1, 4}}, false},
		{"cost more than their callers", false, []Record{{0, 1, 1, 9}, {1, 2, 1, 50}, {2, 3, 1, 400}}, false},
		{"a jump in depth", false, []Record{{0, 1, 1, 9}, {MaxJump + 1, 2, 1, 5}, {1, 3, 1, 4}}, false},
	} {
		b := NewBlock(row.records[0], row.announced, known)
		if b == nil {
			t.Errorf("%s: no block begins", row.name)
			continue
		}
		for _, r := range row.records {
			b.Add(r)
			b.AddBlank()
		}
		if got := b.Decide(); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
	if NewBlock(Record{1, 97, 1, 5}, false, known) != nil {
		t.Error("a block begins with a record that is not outermost")
	}
}
