package analysis

import (
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// lost reports whether so much of a stall was not recorded that a verdict must say so: a tenth.
func (s *Stall) lost() bool { return s.NotRecorded*10 >= s.Wall && s.NotRecorded > 0 }

// mostlyLost reports whether most of a stall was not recorded. Then its calls do not show what it was slow for.
func (s *Stall) mostlyLost() bool { return s.NotRecorded*2 > s.Wall }

// lostText says how much of the stall was not recorded, and if that is most of it, where the stack samples were.
func (e *grounds) lostText() string {
	text := units.Percent(e.NotRecorded, e.Wall) + " of it was not recorded"
	if frame := foreign.FirstOfApp(e.frames); frame != "" && e.mostlyLost() {
		text += ", stack samples show " + foreign.FrameMethod(frame)
	}
	return text
}
