package types

import "github.com/tracegen/tracegen/classfile/verify"

// The rules that findings name: sections of the JVMS.
const (
	rulePoolEntry    = "JVMS 4.4"
	ruleNames        = "JVMS 4.2"
	ruleDescriptors  = "JVMS 4.3"
	ruleUtf8         = "JVMS 4.4.7"
	ruleClassFlags   = "JVMS 4.1"
	ruleFieldInfo    = "JVMS 4.5"
	ruleMethodInfo   = "JVMS 4.6"
	ruleAttribute    = "JVMS 4.7"
	ruleCodeFormat   = "JVMS 4.7.3"
	ruleStackMap     = "JVMS 4.7.4"
	ruleInstructions = "JVMS 4.9.1"
	ruleSuper        = "JVMS 5.3.5"
	ruleMissing      = "JVMS 5.3"
	ruleHandlers     = "JVMS 4.10.1.5"
	ruleTypes        = "JVMS 4.10.1.9"
	ruleFrameMatch   = "JVMS 4.10.1.4"
	ruleProtected    = "JVMS 4.10.1.8"
	ruleFlow         = "JVMS 4.10.1.6"
	ruleInference    = "JVMS 4.10.2"
	ruleSubroutine   = "JVMS 4.10.2.5"
	ruleLimit        = verify.RuleLimit
)
