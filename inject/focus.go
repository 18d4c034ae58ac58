package inject

import "github.com/tracegen/tracegen/classfile"

// frameworkActivities are the classes of android.jar (API 35) that extend android.app.Activity and are not final.
// In none of them is onWindowFocusChanged final.
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

// Ancestry has the facts about a class that [FocusHooks] needs.
type Ancestry struct {
	SuperName string // the superclass in internal form, "" for none
	// DeclaresFocus reports that the class has its own onWindowFocusChanged(Z)V, to which a call can be added: it
	// has code and is neither static nor private.
	DeclaresFocus bool
	// BarsFocus reports that nothing can be done in this class: it has an onWindowFocusChanged(Z)V that is static,
	// abstract, native or private, or it is an interface.
	BarsFocus bool
}

// AncestryOf returns the Ancestry of c.
func AncestryOf(c *classfile.Class) Ancestry {
	a := Ancestry{SuperName: c.SuperName(), BarsFocus: c.AccessFlags()&classfile.AccInterface != 0}
	if m := findMethod(c, focusName, focusDescriptor); m != nil {
		const bars = classfile.AccStatic | classfile.AccAbstract | classfile.AccNative | classfile.AccPrivate
		a.DeclaresFocus = m.AccessFlags&bars == 0
		a.BarsFocus = !a.DeclaresFocus
	}
	return a
}

// Focus returns the action that [FocusHooks] decides on for this class, if it decides on any. It does not depend on
// other classes.
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

// FocusHooks returns the action for each Activity among the inputs that needs one, by internal name. If an Activity
// has a method onWindowFocusChanged, a call of at is inserted at its start. If it has none and directly extends an
// Activity of the framework, one is added, which its subclasses inherit. A class is an Activity if its superclasses
// lead, through input classes only, to an Activity of the framework; if they lead to another class that is not
// among the inputs, nothing is done.
//
// classes has every class of the inputs that may be rewritten or may be a superclass of one, by internal name.
func FocusHooks(classes map[string]Ancestry) map[string]Focus {
	hooks := make(map[string]Focus)
	for name, a := range classes {
		if action := a.Focus(); action != FocusNone && !frameworkActivities[name] && isActivity(classes, name) {
			hooks[name] = action
		}
	}
	return hooks
}

// isActivity reports whether the superclasses of a class lead to an Activity of the framework.
func isActivity(classes map[string]Ancestry, name string) bool {
	// A chain that is longer than the number of classes is a cycle.
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
