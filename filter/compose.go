package filter

import (
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// composer is the package of Compose's runtime, composerGlue its classes that composables call, dozens of times each,
// so that the composer knows what they do. What they take shows as time of the composable.
const composer = "androidx/compose/runtime/"

var composerGlue = []string{"Composer", "ComposerKt", "ComposerImpl", "GapComposer", "SlotTable", "SlotTableKt",
	"SlotReader", "SlotWriter", "Anchor", "GroupInfo", "GroupKind", "IntStack", "Stack", "Pending", "KeyInfo", "Updater",
	"SkippableUpdater", "RecomposeScopeImpl", "RecomposeScopeImplKt"}

// composeGlue returns why a method is glue of Compose or its compiler, not code of the program; "" if it is none.
func (cf *ClassFilter) composeGlue(m *classfile.Member, c *classfile.Code) (detail string, err error) {
	if class, ok := strings.CutPrefix(cf.name, composer); ok {
		outer, _, _ := strings.Cut(class, "$")
		if slices.Contains(composerGlue, outer) || strings.HasPrefix(class, "changelist/") ||
			strings.HasPrefix(class, "internal/Composable") {
			return "what composables call for the composer", nil
		}
		return "", nil
	}
	simple := cf.name[strings.LastIndexByte(cf.name, '/')+1:]
	if strings.HasPrefix(simple, "ComposableSingletons$") && strings.Count(simple, "$") == 1 &&
		(m.Name == "<clinit>" || m.Name == "<init>" || strings.HasPrefix(m.Name, "getLambda")) {
		return "makes the composable lambdas that capture nothing", nil
	}
	if !strings.HasSuffix(m.Descriptor, "Lkotlin/Unit;") && m.Name != "invoke" {
		return "", nil
	}
	again, err := cf.composesAgain(c)
	if !again {
		return "", err
	}
	return "calls a composable again, whose call shows it", nil
}

// composesAgain reports whether code is that of a lambda which Compose's compiler makes for each composable, to execute
// it again: it alone calls updateChangedFlags.
func (cf *ClassFilter) composesAgain(c *classfile.Code) (bool, error) {
	for pc := 0; pc < len(c.Bytecode); {
		in, err := code.At(c.Bytecode, pc)
		if err != nil {
			return false, err
		}
		pc += in.Size
		if in.Op == code.Invokestatic {
			ref, err := cf.class.ConstantPool().Ref(in.Constant())
			if err == nil && ref.Name == "updateChangedFlags" && ref.Class == composer+"RecomposeScopeImplKt" {
				return true, nil
			}
		}
	}
	return false, nil
}
