package export_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tracegen/tracegen/internal/recording/export"
)

// chunked makes a recording of any bytes: a kind of chunk, a length, a payload, and so on. All checksums are right, so
// that what is in the payloads gets as far as it can.
func chunked(data []byte) []byte {
	r := newRecorded("tickNanos", "1000", "clockPeriodMillis", "5")
	for len(data) >= 2 {
		n := min(int(data[1]), len(data)-2)
		r.chunk(data[0]%12, data[2:2+n])
		data = data[2+n:]
	}
	return r.Bytes()
}

// unchunked is what chunked makes a recording of, for those whose chunks are small.
func unchunked(recording []byte) []byte {
	var data []byte
	for at := 32; at+20 <= len(recording); {
		n := int(binary.LittleEndian.Uint32(recording[at+8:]))
		if n < 256 && at+20+n <= len(recording) && recording[at+6] == 0 {
			data = append(append(data, recording[at+4], byte(n)), recording[at+20:at+20+n]...)
		}
		at += (20 + n + 3) &^ 3
	}
	return data
}

// FuzzExports: no recording makes an export panic or fail, and each is valid.
//
// Invariant: No recording makes an exporter panic, or write what its readers refuse.
func FuzzExports(f *testing.F) {
	for _, name := range []string{"every", "open", "alive"} {
		if data, err := os.ReadFile(vectors + name + ".tgd"); err == nil {
			f.Add(unchunked(data))
		}
	}
	f.Add(unchunked(full()))
	f.Add([]byte{5, 20, 0, 0, 0, 2, 1, 0, 0, 0, 0, 8, 0, 128, 2, 0, 0, 0, 0, 8, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		recording := chunked(data)
		for _, format := range export.Formats() {
			var b bytes.Buffer
			v, err := export.New(format.Name, &b, export.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err = feed(v, naming{}, recording); err == nil {
				err = v.Close()
			}
			if err != nil {
				t.Fatal(format.Name, err)
			}
			if valid := validators[format.Name]; valid == nil {
				t.Errorf("%s has no validator", format.Name)
			} else if err := valid(b.Bytes()); err != nil {
				t.Errorf("%s: %v", format.Name, err)
			}
		}
	})
}

// validators hold exports to what their readers expect of every file.
var validators = map[string]func([]byte) error{
	"collapsed":  validCollapsed,
	"html":       func([]byte) error { return nil }, // its own tests look into it
	"speedscope": validSpeedscope,
	"perfetto":   validPerfetto,
	"pprof":      validProfile,
	"firefox":    validFirefox,
}

var collapsedLine = regexp.MustCompile(`^[^;\n]+(;[^;\n]+)+ [1-9][0-9]*\n$`)

func validCollapsed(data []byte) error {
	for line := range bytes.Lines(data) {
		if !collapsedLine.Match(line) {
			return fmt.Errorf("line %q", line)
		}
	}
	return nil
}

func validSpeedscope(data []byte) error {
	var file struct {
		Shared struct {
			Frames []struct{ Name string }
		}
		Profiles []struct {
			StartValue, EndValue int64
			Events               []struct {
				Type  string
				At    int64
				Frame int
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	for _, p := range file.Profiles {
		var open []int
		last := p.StartValue
		for _, e := range p.Events {
			if e.At < last || e.At > p.EndValue || e.Frame < 0 || e.Frame >= len(file.Shared.Frames) {
				return fmt.Errorf("event %+v after %d of %d frames", e, last, len(file.Shared.Frames))
			}
			last = e.At
			if e.Type == "O" {
				open = append(open, e.Frame)
			} else if n := len(open) - 1; n < 0 || open[n] != e.Frame {
				return fmt.Errorf("%+v closes %v", e, open)
			} else {
				open = open[:n]
			}
		}
		if len(open) > 0 {
			return fmt.Errorf("not closed: %v", open)
		}
	}
	return nil
}

// nesting checks begins and ends of one track.
type nesting struct {
	open int
	last uint64
}

func (n *nesting) step(kind string, at uint64) error {
	if at < n.last {
		return fmt.Errorf("%s at %d after %d", kind, at, n.last)
	}
	n.last = at
	switch kind {
	case "B":
		n.open++
	case "E":
		if n.open--; n.open < 0 {
			return errors.New("an end without a begin")
		}
	}
	return nil
}

// fields returns the fields of a message: numbers, and bytes.
func fields(data []byte, visit func(field protowire.Number, n uint64, b []byte) error) error {
	for len(data) > 0 {
		field, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return protowire.ParseError(size)
		}
		data = data[size:]
		var n uint64
		var b []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			b, size = protowire.ConsumeBytes(data)
		case protowire.Fixed64Type:
			n, size = protowire.ConsumeFixed64(data)
		default:
			size = protowire.ConsumeFieldValue(field, kind, data)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		data = data[size:]
		if err := visit(field, n, b); err != nil {
			return err
		}
	}
	return nil
}

func validPerfetto(data []byte) error {
	tracks := map[uint64]*nesting{}
	err := fields(data, func(_ protowire.Number, _ uint64, packet []byte) error {
		var at, kind, track uint64
		var event bool
		err := fields(packet, func(field protowire.Number, n uint64, b []byte) error {
			switch field {
			case 8:
				at = n
			case 60:
				return fields(b, func(field protowire.Number, n uint64, b []byte) error {
					if field == 1 {
						tracks[n] = &nesting{}
					}
					return nil
				})
			case 11:
				event = true
				return fields(b, func(field protowire.Number, n uint64, b []byte) error {
					switch field {
					case 9:
						kind = n
					case 11:
						track = n
					}
					return nil
				})
			}
			return nil
		})
		if err != nil || !event {
			return err
		}
		if tracks[track] == nil {
			return fmt.Errorf("track %d is not introduced", track)
		}
		if int64(at) < 0 {
			return fmt.Errorf("time %d", at)
		}
		if kind == 3 {
			return nil // instants may come in any order
		}
		return tracks[track].step([]string{1: "B", 2: "E"}[kind], at)
	})
	for track, n := range tracks {
		if err == nil && n.open != 0 {
			err = fmt.Errorf("track %d: %d not ended", track, n.open)
		}
	}
	return err
}

func validProfile(data []byte) error {
	p, err := profile.ParseData(data)
	if err != nil {
		return err
	}
	return p.CheckValid()
}

func validFirefox(data []byte) error {
	type table map[string]json.RawMessage
	var file struct {
		Threads []struct {
			Samples, Markers, StackTable, FrameTable, FuncTable table
			StringArray                                         []string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	for _, th := range file.Threads {
		for _, t := range []table{th.Samples, th.Markers, th.StackTable, th.FrameTable, th.FuncTable} {
			var length int
			if err := json.Unmarshal(t["length"], &length); err != nil {
				return err
			}
			for name, column := range t {
				var values []any
				if name != "length" && name != "weightType" &&
					(json.Unmarshal(column, &values) != nil || len(values) != length) {
					return fmt.Errorf("column %s has %d values, want %d", name, len(values), length)
				}
			}
		}
		var times, weights []float64
		if err := errors.Join(json.Unmarshal(th.Samples["time"], &times),
			json.Unmarshal(th.Samples["weight"], &weights)); err != nil {
			return err
		}
		for k, at := range times {
			if k > 0 && at < times[k-1] || at < 0 || weights[k] < 0 {
				return fmt.Errorf("sample %d at %v weighs %v", k, at, weights[k])
			}
		}
	}
	return nil
}
