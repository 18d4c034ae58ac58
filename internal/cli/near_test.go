package cli

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping"
)

// TestNear has the mistakes that people make in names.
func TestNear(t *testing.T) {
	var names []mapping.Identity
	for _, class := range []string{"shop/Shop", "shop/Tax", "shop/Search", "a/b"} {
		names = append(names, mapping.Identity{Class: class})
	}
	add := func(class, name, descriptor string) {
		names = append(names, mapping.Identity{Class: class, Name: name, Descriptor: descriptor})
	}
	add("shop/Shop", "handle", "()V")
	add("shop/Shop", "priced-PUiSbYQ", "(I)I")
	add("shop/Tax", "taxOf", "(I)I")
	add("shop/Search", "find", "()V")
	for text, want := range map[string]string{
		"tax":               "shop.Tax shop.Tax#taxOf",
		"shop.shop":         "shop.Shop",
		"shop/Shpo":         "shop.Shop",
		"other.Shop":        "shop.Shop",
		"shop.Shop#priced":  "shop.Shop#priced-PUiSbYQ(I)I",
		"shop.Shop.Handle":  "shop.Shop#handle()V",
		"shop.Shop#hnadle(": "shop.Shop#handle()V",
		"Search":            "shop.Search",
		"search":            "shop.Search",
		"fin":               "shop.Search#find",
		"zzz":               "",
		"no.such.Class":     "",
		"shop.Shop#zzzzzzz": "",
		"sh*":               "",
	} {
		if got := strings.Join(Near(text, names), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
