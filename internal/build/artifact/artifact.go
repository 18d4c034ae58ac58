// Package artifact reads what an app bundle or an APK says about its code: how big its dex files are and what they
// define, which shares of the code R8 may optimize, and which methods its baseline profile names. It needs none of the
// build's other files. The bytes are not trusted: memory is bounded by the size of the file.
package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// The entries that are read. The first of each is that of an app bundle.
const (
	r8Metadata    = "BUNDLE-METADATA/com.android.tools/r8.json"
	r8Mapping     = "BUNDLE-METADATA/com.android.tools.build.obfuscation/proguard.map"
	bundleProfile = "BUNDLE-METADATA/com.android.tools.build.profiles/baseline.prof"
	apkProfile    = "assets/dexopt/baseline.prof"
)

// maxEntry is the size in bytes above which an entry is not read.
const maxEntry = 1 << 30

// Artifact is what is known of an app bundle or an APK.
type Artifact struct {
	// Path is its file.
	Path string
	// DexFiles is the number of dex files in all modules, DexBytes their size before compression.
	DexFiles int
	DexBytes int64
	// Classes and Methods are how many the dex files define. References is how many methods they name, each file by
	// itself: a dex file has place for 65,536.
	Classes, Methods, References int
	// Shares is what R8 reports, nil if the artifact does not have it: R8 is older, or this is an APK.
	Shares *Shares
	// Profile is the baseline profile, nil if there is none.
	Profile *Profile

	mapping  *r8.Mapping // nil if there is none
	byChecks map[uint32]*dex
}

// Shares are shares of all classes, fields and methods, in percent.
type Shares struct {
	// Optimized, Shrunk and Obfuscated are those that R8 may change in this way.
	Optimized, Shrunk, Obfuscated float64
}

// code are the names of dex files that are the app's code. Others that end alike are data of the app.
var code = regexp.MustCompile(`^(?:[^/]+/dex/)?classes\d*\.dex$`)

// Read reads an app bundle or an APK.
func Read(file string) (*Artifact, error) {
	archive, err := zipfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	a, err := read(archive)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

func read(archive *zipfile.Archive) (*Artifact, error) {
	a := &Artifact{Path: archive.Name(), byChecks: map[uint32]*dex{}}
	codec := &zipfile.Codec{}
	for i, entries := 0, archive.Entries(); i < len(entries); i++ {
		e := &entries[i]
		var use func(name, data string) error
		switch {
		case path.Ext(e.Name) == ".dex":
			a.DexFiles++
			a.DexBytes += int64(e.Size)
			if code.MatchString(e.Name) {
				use = func(_, data string) error { return a.addDex(data, e.CRC32) }
			}
		case e.Name == r8Metadata:
			use = a.addShares
		case e.Name == r8Mapping:
			use = a.addMapping
		case e.Name == bundleProfile, e.Name == apkProfile:
			use = a.addProfile
		}
		if use == nil {
			continue
		}
		if e.Size > maxEntry {
			return nil, fmt.Errorf("%s: longer than %d MiB", e.Name, maxEntry>>20)
		}
		data, err := codec.Read(e, nil)
		if err == nil {
			err = use(e.Name, string(data))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	if a.DexFiles == 0 {
		return nil, errors.New("it has no dex file; give an app bundle or an APK")
	}
	return a, nil
}

func (a *Artifact) addDex(data string, checksum uint32) error {
	d, err := parseDex(data)
	if err != nil {
		return err
	}
	a.Classes += d.classes.count
	a.Methods += d.count()
	a.References += d.methods.count
	a.byChecks[checksum] = d
	return nil
}

// addShares reads R8's metadata. It has the shares of what R8 may not do. R8 before 8.10 did not write them.
func (a *Artifact) addShares(_, data string) error {
	var metadata struct {
		Stats *struct {
			NoOptimization *float64 `json:"noOptimizationPercentage"`
			NoShrinking    *float64 `json:"noShrinkingPercentage"`
			NoObfuscation  *float64 `json:"noObfuscationPercentage"`
		} `json:"stats"`
	}
	if err := json.Unmarshal([]byte(data), &metadata); err != nil {
		return err
	}
	s := metadata.Stats
	if s != nil && s.NoOptimization != nil && s.NoShrinking != nil && s.NoObfuscation != nil {
		a.Shares = &Shares{100 - *s.NoOptimization, 100 - *s.NoShrinking, 100 - *s.NoObfuscation}
	}
	return nil
}

func (a *Artifact) addMapping(name, data string) (err error) {
	a.mapping, err = r8.Parse(name, data)
	return err
}

func (a *Artifact) addProfile(_, data string) (err error) {
	a.Profile, err = parseProfile(data)
	return err
}

// Loss says what a baseline profile names no longer.
type Loss struct {
	// Unnamed are original methods that are in the app's dex files, but no longer in its profile: rules that match no
	// longer. They are sorted.
	Unnamed []r8.Method
	// Gone is how many methods of the profile are in no dex file any more, by their own name: R8 has removed them, or
	// put them into their callers.
	Gone int
}

// ErrNoNames is the error of Lost if the names of methods cannot be compared.
var ErrNoNames = errors.New("it is not known which methods the profile names")

// Lost compares the methods of the baseline profile of a with those that the profile of base names.
func (a *Artifact) Lost(base *Artifact) (*Loss, error) {
	before, err := base.profiled()
	if err != nil {
		return nil, err
	}
	if a.Profile != nil {
		after, err := a.profiled()
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(before, func(m r8.Method, _ bool) bool { return after[m] })
	}
	loss := &Loss{Gone: len(before)}
	for _, d := range a.byChecks {
		err := a.originals(d, d.defined, func(m r8.Method) {
			if before[m] {
				delete(before, m) // it may be in several methods
				loss.Unnamed = append(loss.Unnamed, m)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	loss.Gone -= len(loss.Unnamed)
	slices.SortFunc(loss.Unnamed, func(x, y r8.Method) int {
		return strings.Compare(x.Class+" "+x.Name+x.Descriptor, y.Class+" "+y.Name+y.Descriptor)
	})
	return loss, nil
}

// synthetic is in the names of classes that R8 makes. It numbers them anew in each build, and no rule names them.
const synthetic = "$$ExternalSynthetic"

// profiled returns the original methods that the profile names.
func (a *Artifact) profiled() (map[r8.Method]bool, error) {
	named := map[r8.Method]bool{}
	if a.Profile == nil {
		return named, nil
	}
	for _, line := range a.Profile.lines {
		d := a.byChecks[line.checksum]
		if d == nil || len(line.methods) != d.methods.count {
			return nil, fmt.Errorf("%s: %w: its part %q is of a dex file that is not there", a.Path, ErrNoNames, line.name)
		}
		err := a.originals(d, line.methods, func(m r8.Method) {
			if !strings.Contains(m.Class, synthetic) {
				named[m] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return named, nil
}

// originals calls use with the original names of the methods of a dex file that are set.
func (a *Artifact) originals(d *dex, set []bool, use func(r8.Method)) error {
	if a.mapping == nil {
		return fmt.Errorf("%s: %w: it has no mapping of R8; give app bundles", a.Path, ErrNoNames)
	}
	for i, is := range set {
		if !is {
			continue
		}
		residual, err := d.method(i)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Path, err)
		}
		for _, original := range a.mapping.Originals(residual) {
			use(original)
		}
	}
	return nil
}
