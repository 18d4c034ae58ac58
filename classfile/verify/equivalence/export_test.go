package equivalence

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
)

// CheckExactly is Check without the lockstep: the exact path decides every method.
func CheckExactly(original, rewritten *classfile.Class, want Instrumentation) []verify.Finding {
	var r checker
	r.check(original, rewritten, want, func(*checker, *classfile.Member, *classfile.Member, uint32) bool { return false })
	return r.findings
}

// CheckCounting is Check. It returns also of how many methods the lockstep was sure, and how many it was asked about.
func CheckCounting(original, rewritten *classfile.Class, want Instrumentation) (f []verify.Finding, sure, asked int) {
	var r checker
	r.check(original, rewritten, want, func(r *checker, old, now *classfile.Member, id uint32) bool {
		asked++
		ok := r.inStep(old, now, id)
		if ok {
			sure++
		}
		return ok
	})
	return r.findings, sure, asked
}
