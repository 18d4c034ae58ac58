package types

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
)

// poolFindings returns what checkPool finds in a class. If exactly is set, no entry is tested quickly.
func poolFindings(c *classfile.Class, exactly bool) []verify.Finding {
	k := &checker{class: c, pool: c.ConstantPool(), major: majorOf(c)}
	k.names.reset()
	k.constants = make([]constant, k.pool.Len())
	if !exactly {
		k.checkPool()
		return k.findings
	}
	k.facts = make([]facts, k.pool.Len())
	for i := range uint16(k.pool.Len()) {
		tag, raw := k.pool.Entry(i)
		switch tag {
		case 0:
			continue
		case classfile.TagUtf8, classfile.TagInteger, classfile.TagFloat, classfile.TagLong, classfile.TagDouble:
		case classfile.TagClass, classfile.TagString, classfile.TagMethodType:
			k.named = append(k.named, namedEntry{i, u2(raw), 0, tag})
		case classfile.TagMethodHandle:
			k.named = append(k.named, namedEntry{i, 0, 0, tag})
		default:
			k.named = append(k.named, namedEntry{i, u2(raw), u2(raw[len(raw)-2:]), tag})
		}
		k.checkEntry(i, tag, raw)
	}
	if len(k.findings) > 0 {
		return k.findings
	}
	for _, e := range k.named {
		k.checkEntryNames(e)
	}
	return k.findings
}

// TestPoolAgrees: the quick tests of entries find what the exact ones find, in pools of real classes, of which bytes
// are changed, as those of several versions.
//
// Invariant: The type checker's quick tests of constants report what the exact tests report.
func TestPoolAgrees(t *testing.T) {
	const variants = 2000
	const odd = "./;[<>()LV\x00\x80\xFF"
	rng := rand.New(rand.NewPCG(3, 4))
	checked, rejected := 0, 0
	err := filepath.WalkDir(filepath.Join("..", "..", "..", "testdata", "classes", "bin"),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".class" {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			original, err := classfile.Parse(data)
			if err != nil {
				return nil
			}
			end := original.ConstantPool().Offset(original.ConstantPool().Len())
			for range variants {
				variant := slices.Clone(data)
				if at := 10 + rng.IntN(end-10); rng.IntN(2) == 0 {
					variant[at] = odd[rng.IntN(len(odd))]
				} else {
					variant[at] ^= 1 << rng.IntN(8)
				}
				variant[6], variant[7] = 0, byte(45+rng.IntN(20))
				c, err := classfile.Parse(variant)
				if err != nil {
					continue
				}
				got, want := poolFindings(c, false), poolFindings(c, true)
				if !slices.Equal(got, want) {
					t.Fatalf("%s: quick %v\nexact %v", path, got, want)
				}
				if checked++; len(want) > 0 {
					rejected++
				}
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pools, %d of them rejected", checked, rejected)
	if checked < 10_000 || rejected < checked/10 {
		t.Errorf("%d pools, %d of them rejected, are too few", checked, rejected)
	}
}
