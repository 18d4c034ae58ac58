package equivalence

// The rules that findings name.
const (
	rulePool         = "equivalence: constant pool"
	ruleClass        = "equivalence: class structure"
	ruleMethod       = "equivalence: method structure"
	ruleCode         = "equivalence: code"
	ruleEntry        = "equivalence: entry"
	ruleExit         = "equivalence: exit"
	ruleID           = "equivalence: id"
	ruleFocus        = "equivalence: focus hook"
	rulePost         = "equivalence: post probe"
	ruleContinuation = "equivalence: continuation"
	ruleHandler      = "equivalence: exact handler"
	rulePosition     = "equivalence: position"
	ruleTable        = "equivalence: table"
	ruleFrames       = "equivalence: frames"
	ruleStack        = "equivalence: max_stack"
	ruleStamp        = "equivalence: mapping digest"
	ruleModule       = "equivalence: requires of the runtime's module"
)
