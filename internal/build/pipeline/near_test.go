package pipeline_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/mapping"
)

func TestNear(t *testing.T) {
	names := []mapping.Identity{{Class: "com/app/Feed"}, {Class: "com/app/Feed", Name: "load", Descriptor: "()V"},
		{Class: "com/app/Feed", Name: "reload", Descriptor: "(I)V"},
		{Class: "com/app/Feeds"}, {Class: "org/lib/Feed"}, {Class: "x/Entirely"}}
	for text, want := range map[string]string{
		"com.app.Fed":        "com.app.Feed com.app.Feeds",
		"org.app.Feed":       "com.app.Feed org.lib.Feed",
		"com.app.Feed#laod":  "com.app.Feed#load()V",
		"com.app.Feed#Load":  "com.app.Feed#load()V",
		"com/app/Feed#zzzz":  "",
		"com.app.Fred#load":  "com.app.Feed com.app.Feeds",
		"nothing.like.it.Is": "",
	} {
		if got := pipeline.Near(text, names); !reflect.DeepEqual(strings.Fields(want), append([]string{}, got...)) &&
			strings.Join(got, " ") != want {
			t.Errorf("near %s: %v, want %s", text, got, want)
		}
	}
}
