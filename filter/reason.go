package filter

// Reason says why a method with code is not traced. Its value is what reports and skip lists show. The empty
// Reason means that the method is traced.
type Reason string

// The reasons, in the order of [Reasons]. Those marked so are found outside of this package.
const (
	// ReasonBlocked is a rule; the detail has the rule, its file and line.
	ReasonBlocked Reason = "blocked"
	// ReasonTrivial is a method too small to be worth measuring; see [TrivialMode].
	ReasonTrivial Reason = "trivial"
	// ReasonBridge is a method with ACC_BRIDGE (JVMS 4.6): it only passes on to one that is traced, and
	// would double its count.
	ReasonBridge Reason = "bridge"
	// ReasonSyntheticAccessor is a static synthetic access$… method with one member access, by which
	// compilers let nested classes reach private members.
	ReasonSyntheticAccessor Reason = "synthetic-accessor"
	// ReasonInlineTemplate is a Kotlin …$$forInline method, which only the compiler reads.
	ReasonInlineTemplate Reason = "inline-template"
	// ReasonRuntime is code that the tracing calls themselves run. What they reach outside the protected
	// packages is found by injection.
	ReasonRuntime Reason = "runtime"
	// ReasonGenerated is a class R, R$…, BuildConfig or Manifest that has no methods but initialisers.
	ReasonGenerated Reason = "generated"
	// ReasonTooLarge is code that would grow past 65,535 bytes (JVMS 4.9.1). Found by injection.
	ReasonTooLarge Reason = "too-large"
	// ReasonPoolFull is a class whose constant pool would grow past 65,535 (JVMS 4.1). Found by injection.
	ReasonPoolFull Reason = "pool-full"
	// ReasonJITLimit is code that would cross the 8,000 bytes up to which HotSpot compiles. Found by injection.
	ReasonJITLimit Reason = "jit-limit"
	// ReasonUnknownAttribute is an attribute inside Code that is not known there, and may hold offsets.
	ReasonUnknownAttribute Reason = "unknown-attribute"
	// ReasonAlreadyInstrumented is a class with tracing calls of another tool. Found by injection.
	ReasonAlreadyInstrumented Reason = "already-instrumented"
	// ReasonUnverifiable is a class that a referee refuses after injection. Found by the pipeline.
	ReasonUnverifiable Reason = "unverifiable"
	// ReasonMalformed is a class or code that cannot be decoded. Also found by injection.
	ReasonMalformed Reason = "malformed"
	// ReasonUnsupportedVersion is a class file with preview bits, or of a version that is not known yet; the
	// latter do not parse, so that the pipeline finds them.
	ReasonUnsupportedVersion Reason = "unsupported-version"
	// ReasonNoEntry is a constructor that never reaches super() or this(). Found by injection.
	ReasonNoEntry Reason = "no-entry"
	// ReasonModuleInfo is a module-info, which is no class that could run.
	ReasonModuleInfo Reason = "module-info"
	// ReasonDuplicateClass is a class that an earlier input has too, when inputs are merged. Found by the
	// pipeline.
	ReasonDuplicateClass Reason = "duplicate-class"
)

// Reasons gives every reason, in a fixed order for tables.
func Reasons() []Reason {
	return []Reason{
		ReasonBlocked, ReasonTrivial, ReasonBridge, ReasonSyntheticAccessor, ReasonInlineTemplate, ReasonRuntime,
		ReasonGenerated, ReasonTooLarge, ReasonPoolFull, ReasonJITLimit, ReasonUnknownAttribute,
		ReasonAlreadyInstrumented, ReasonUnverifiable, ReasonMalformed, ReasonUnsupportedVersion, ReasonNoEntry,
		ReasonModuleInfo, ReasonDuplicateClass,
	}
}

// Decision is the verdict on one method. The zero Decision is "traced, and no rule speaks of it".
type Decision struct {
	Reason Reason // empty if the method is traced
	// Detail is for people: of a blocked method, and of one that is traced because a rule allows it, the
	// rule as "FILE:LINE: TEXT"; else what exactly fits the reason. It may be empty.
	Detail string
	// Pending, unless empty, says that rules have a say that cannot be told from the class alone. Reason and
	// Detail are then what holds if no rule blocks the method; reasons that are found later go there as ever.
	// [Filter.Resolve] makes the decision final.
	Pending Pending
}

// Traced says whether the method is traced; of one whose decision is pending, whether it may be.
func (d Decision) Traced() bool { return d.Reason == "" }
