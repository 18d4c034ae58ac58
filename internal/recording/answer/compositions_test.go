package answer

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// feedComposed is a program whose main composes a feed with three rows, and again as a state has changed: two rows are
// executed again, one of them because its parameter changed, and one is skipped.
const feedComposed = `
header minor=6
meta slowMillis=700 clockPeriodMillis=5 records=all threads=all
clock now=0 wall=1700000000000
thread index=0 name=main main=1
composed thread=0 list="app.Row\_(Feed.kt:20)=4:-1@2+0/10+100 app.Row\_(Feed.kt:20)=4:-1@4+0/120+100 app.Row\_(Feed.kt:20)=4:-1@6+0/230+100 app.Feed\_(Feed.kt:7)=0:-1@1+7/5+335"
composed thread=0 list="app.Row\_(Feed.kt:20)=20:-1@10+0/400+200 app.Row\_(Feed.kt:20)=35:-1@12+0/610+250 app.Feed\_(Feed.kt:7)=1:-1@9+6/390+500"
records thread=0 first=0 list="+10@0 +11@10 -11@110 +11@120 -11@220 +11@230 -11@330 -10@340 +10@380 +11@400 -11@600 +11@610 -11@860 +11@861 -11@861 -10@1100 +10@1190 -10@1199"
stall thread=0 sequence=0 begin=380 wall=720 cpu=500 first=8 end=16 what="method 10"
end`

type composedNames struct{}

// Name implements [trace.Names].
func (composedNames) Name(m trace.Method) (trace.Name, bool) {
	if m == 11 {
		return trace.Name{Class: "app.FeedKt", Method: "Row",
			Descriptor: "(Ljava/lang/String;ILandroidx/compose/runtime/Composer;I)V"}, true
	}
	return trace.Name{Class: "app.Main", Method: "frame"}, true
}

// TestCompositions compares the block about composables with golden files, and a verdict that names one.
func TestCompositions(t *testing.T) {
	report := compareBlock(t, "compose", feedComposed, composedNames{})
	if want := "; app.Row was recomposed 2 times, for 450 ms"; !strings.Contains(report, want) {
		t.Errorf("no verdict %q:\n%s", want, report)
	}
}
