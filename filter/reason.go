package filter

// Reason says why a method with code is not traced. Its value is what reports and lists of skipped methods show. The
// empty Reason means that the method is traced.
type Reason string

// The reasons, in the order of [Reasons]. Where another package finds a reason, its comment says so.
const (
	// ReasonBlocked: a rule blocks the method. The detail is the rule with its file and line.
	ReasonBlocked Reason = "blocked"
	// ReasonTrivial: the method is too small to be worth measuring; see [TrivialMode].
	ReasonTrivial Reason = "trivial"
	// ReasonProfile: recordings of an earlier build showed that the method costs more than it shows, or it is a small
	// method on the start's path; see [Profile].
	ReasonProfile Reason = "profile"
	// ReasonBounded: a call of the method can take no long time: see [Bounded]. Found by package plan.
	ReasonBounded Reason = "bounded"
	// ReasonBridge: the method has ACC_BRIDGE (JVMS 4.6). It only calls a method that is traced, and tracing it would
	// count each call twice.
	ReasonBridge Reason = "bridge"
	// ReasonSyntheticAccessor: a static synthetic access$… method with one field access or call. Compilers generate
	// it to let nested classes reach private members.
	ReasonSyntheticAccessor Reason = "synthetic-accessor"
	// ReasonInlineTemplate: a Kotlin …$$forInline method, which only the compiler reads.
	ReasonInlineTemplate Reason = "inline-template"
	// ReasonContinuation: the method only makes or resumes what a suspend function or lambda of Kotlin keeps of a call,
	// and the calls of the function or lambda show that. Found by package plan.
	ReasonContinuation Reason = "continuation"
	// ReasonCompose: the method is glue of Compose or its compiler: what composables call for the composer, or what
	// calls a composable again.
	ReasonCompose Reason = "compose"
	// ReasonRuntime: the runtime itself executes the method. Classes outside of the runtime's packages that the
	// runtime calls are found by package pipeline.
	ReasonRuntime Reason = "runtime"
	// ReasonGenerated: a class R, R$…, BuildConfig or Manifest that has no methods but initialisers.
	ReasonGenerated Reason = "generated"
	// ReasonLibrary: the method is of a library, and the [Scope] leaves it out.
	ReasonLibrary Reason = "library"
	// ReasonTooLarge: the code would grow beyond 65,535 bytes (JVMS 4.9.1). Found by injection.
	ReasonTooLarge Reason = "too-large"
	// ReasonPoolFull: the constant pool would grow beyond 65,535 entries (JVMS 4.1). Found by injection.
	ReasonPoolFull Reason = "pool-full"
	// ReasonJITLimit: the code would grow beyond 8,000 bytes, the limit up to which HotSpot compiles. Found by
	// injection.
	ReasonJITLimit Reason = "jit-limit"
	// ReasonUnknownAttribute: Code has an attribute that is unknown there and may contain offsets.
	ReasonUnknownAttribute Reason = "unknown-attribute"
	// ReasonAlreadyInstrumented: the class has tracing calls of another tool. Found by injection.
	ReasonAlreadyInstrumented Reason = "already-instrumented"
	// ReasonUnverifiable: the rewritten class fails verification. Found by package pipeline.
	ReasonUnverifiable Reason = "unverifiable"
	// ReasonMalformed: the class or its code cannot be decoded. Also found by injection.
	ReasonMalformed Reason = "malformed"
	// ReasonUnsupportedVersion: a class file of a version that is not supported yet. One that
	// cannot be parsed is found by package pipeline.
	ReasonUnsupportedVersion Reason = "unsupported-version"
	// ReasonNoEntry: a constructor that never reaches super() or this(). Found by injection.
	ReasonNoEntry Reason = "no-entry"
	// ReasonModuleInfo: a module-info, which is not a class that can run.
	ReasonModuleInfo Reason = "module-info"
	// ReasonDuplicateClass: inputs are merged, and an earlier input has the same class. Found by package pipeline.
	ReasonDuplicateClass Reason = "duplicate-class"
)

// Reasons returns all reasons, in a fixed order for tables.
func Reasons() []Reason {
	return []Reason{
		ReasonBlocked, ReasonProfile, ReasonTrivial, ReasonBounded, ReasonBridge, ReasonSyntheticAccessor,
		ReasonInlineTemplate, ReasonContinuation, ReasonCompose, ReasonRuntime, ReasonGenerated, ReasonLibrary,
		ReasonTooLarge, ReasonPoolFull, ReasonJITLimit, ReasonUnknownAttribute, ReasonAlreadyInstrumented,
		ReasonUnverifiable, ReasonMalformed, ReasonUnsupportedVersion, ReasonNoEntry, ReasonModuleInfo,
		ReasonDuplicateClass,
	}
}

// Decision is the result for one method. The zero Decision means that the method is traced and no rule matches it.
type Decision struct {
	Reason Reason // empty if the method is traced
	// Detail is text for people. For a blocked method, and for a traced one that a rule allows, it is the rule as
	// "FILE:LINE: TEXT"; else it explains the reason. It may be empty.
	Detail string
	// Pending, if not empty, lists rules whose result depends on supertypes that are not known yet. Reason and Detail
	// then hold if none of these rules blocks the method; other packages may still set a reason in
	// them. [Filter.Resolve] makes the decision final.
	Pending Pending
}

// Traced reports whether the method is traced. For a pending decision, it reports whether the method may be traced.
func (d Decision) Traced() bool { return d.Reason == "" }
