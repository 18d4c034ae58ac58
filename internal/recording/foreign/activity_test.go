package foreign

import (
	"strings"
	"testing"
)

func TestAppMethods(t *testing.T) {
	for _, test := range []struct{ frames, want string }{
		{"java.lang.Thread.sleep(Native Method) a.B.c(B.java:3) android.os.Looper.loop(Looper.java) a.Main.run(Main.java)",
			"a.B.c a.Main.run"},
		// A stack that was taken while a method reported its begin.
		{"dev.tracegen.runtime.AppMethodBeat.i(AppMethodBeat.java:7) a.B.c(B.java:3)", "a.B.c"},
		{"com.tencent.matrix.trace.core.AppMethodBeat.o(AppMethodBeat.java:7) a.B.c(B.java:3)", "a.B.c"},
		{"java.lang.Thread.sleep(Thread.java:3) android.os.Looper.loop(Looper.java)",
			"java.lang.Thread.sleep android.os.Looper.loop"},
	} {
		frames := strings.Split(strings.ReplaceAll(test.frames, ") ", ")\n"), "\n")
		if got := strings.Join(AppMethods(frames, 3), " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.frames, got, test.want)
		}
	}
}

// TestOfLibrary: frameworks with suspend functions are libraries, and packages whose names begin alike are not.
func TestOfLibrary(t *testing.T) {
	for method, want := range map[string]bool{"io.ktor.server.Engine.run": true, "java.util.List.get": true,
		"kotlinx.coroutines.DelayKt.delay": true, "app.Feed.load": false, "coilguns.Main.run": false} {
		if got := OfLibrary(method); got != want {
			t.Errorf("%s: %v, want %v", method, got, want)
		}
	}
}
