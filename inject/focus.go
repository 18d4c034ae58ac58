package inject

import "github.com/tracegen/tracegen/classfile"

// frameworkActivities are the classes of android.jar (API 35) that extend android.app.Activity and may be
// extended. None makes onWindowFocusChanged final.
var frameworkActivities = map[string]bool{
	"android/accounts/AccountAuthenticatorActivity": true,
	"android/app/Activity":                          true,
	"android/app/ActivityGroup":                     true,
	"android/app/AliasActivity":                     true,
	"android/app/ExpandableListActivity":            true,
	"android/app/LauncherActivity":                  true,
	"android/app/ListActivity":                      true,
	"android/app/NativeActivity":                    true,
	"android/app/TabActivity":                       true,
	"android/preference/PreferenceActivity":         true,
}

// Ancestry is what [FocusHooks] needs to know of a class.
type Ancestry struct {
	SuperName string // of the superclass in internal form, "" for none
	// DeclaresFocus says that the class itself has an onWindowFocusChanged(Z)V with code, not static.
	DeclaresFocus bool
	// BarsFocus says that it has one of another kind (static, abstract, native or private), or is no class
	// to add a method to (an interface).
	BarsFocus bool
}

// AncestryOf extracts the Ancestry of c.
func AncestryOf(c *classfile.Class) Ancestry {
	a := Ancestry{SuperName: c.SuperName(), BarsFocus: c.AccessFlags()&classfile.AccInterface != 0}
	if m := findMethod(c, focusName, focusDescriptor); m != nil {
		const bars = classfile.AccStatic | classfile.AccAbstract | classfile.AccNative | classfile.AccPrivate
		a.DeclaresFocus = m.AccessFlags&bars == 0
		a.BarsFocus = !a.DeclaresFocus
	}
	return a
}

// Focus gives the only action that [FocusHooks] can ask of this class, whatever the others are.
func (a Ancestry) Focus() Focus {
	switch {
	case a.BarsFocus:
		return FocusNone
	case a.DeclaresFocus:
		return FocusHook
	case frameworkActivities[a.SuperName]:
		return FocusAdd
	}
	return FocusNone
}

// FocusHooks decides for every Activity among the inputs what happens to its onWindowFocusChanged. One that
// is there calls at, first thing; to the topmost input class of a chain that lacks one, one is added, which
// the classes below inherit. A class is an Activity if its superclasses lead, through inputs only, to a
// framework class known to be one; below a superclass that is neither, nothing is touched.
//
// classes holds every class of the inputs that may be rewritten or stand between others, by internal name.
func FocusHooks(classes map[string]Ancestry) map[string]Focus {
	hooks := make(map[string]Focus)
	for name, a := range classes {
		if action := a.Focus(); action != FocusNone && !frameworkActivities[name] && isActivity(classes, name) {
			hooks[name] = action
		}
	}
	return hooks
}

func isActivity(classes map[string]Ancestry, name string) bool {
	// A chain longer than there are classes runs in a circle.
	for range len(classes) + 1 {
		if frameworkActivities[name] {
			return true
		}
		a, ok := classes[name]
		if !ok {
			return false
		}
		name = a.SuperName
	}
	return false
}
