package types

import (
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// checkBody checks a method's Code attribute, except for its instructions (JVMS 4.7.3). arguments is the number of
// words that the arguments take, this included.
func (k *checker) checkBody(m *classfile.Member, flags uint16, arguments int) {
	report := func(rule, want, got string) { k.formatFinding(m, rule, want, got) }
	slot := k.nextBody()
	ok, err := k.class.ReadCode(m, &slot.code)
	withoutCode := flags&(classfile.AccNative|classfile.AccAbstract) != 0
	switch {
	case err != nil:
		report(ruleCodeFormat, "a well-formed Code attribute", err.Error())
		return
	case ok && withoutCode:
		report(ruleMethodInfo, "no code in a native or abstract method", "some")
		return
	case !ok && !withoutCode:
		report(ruleMethodInfo, "code in a method that is neither native nor abstract", "none")
		return
	case !ok:
		return
	}
	slot.member = m
	k.bodies = k.bodies[:len(k.bodies)+1]
	body := &slot.code
	switch {
	case len(body.Bytecode) == 0 || len(body.Bytecode) > maxCodeLength:
		report(ruleCodeFormat, "1 to 65535 bytes of code", fmt.Sprint(len(body.Bytecode)))
	case arguments > int(body.MaxLocals):
		report(ruleCodeFormat, fmt.Sprintf("max_locals of at least %d", arguments), fmt.Sprint(body.MaxLocals))
	}
	for t := body.ExceptionTable; len(t) >= 8; t = t[8:] {
		start, end, handler, catch := int(u2(t)), int(u2(t[2:])), int(u2(t[4:])), u2(t[6:])
		if start >= end || end > len(body.Bytecode) || handler >= len(body.Bytecode) {
			report(ruleCodeFormat, "exception ranges and handlers in the code",
				fmt.Sprintf("%d to %d, handler %d", start, end, handler))
		}
		if catch != 0 && k.pool.Tag(catch) != classfile.TagClass {
			report(ruleCodeFormat, "a Class as catch_type", kindAt(k.pool, catch))
		}
	}
	k.checkCodeAttributes(slot, report)
}

// nextBody returns the next element of bodies, which may hold the memory of another class's method.
func (k *checker) nextBody() *methodCode {
	n := len(k.bodies)
	k.bodies = slices.Grow(k.bodies, 1)
	return &k.bodies[:n+1][n]
}

// variableKey identifies a row of a LocalVariableTable, which must be unique: start, length, name and index.
type variableKey uint64

func (v variableKey) start() int { return int(v >> 48) }

func (v variableKey) end() int { return v.start() + int(uint16(v>>32)) }

// checkCodeAttributes checks the attributes of a Code attribute.
func (k *checker) checkCodeAttributes(of *methodCode, report func(rule, want, got string)) {
	body := &of.code
	frames, untyped, start := 0, len(k.variables), len(k.typed)
	for i := range body.Attributes {
		a := &body.Attributes[i]
		switch {
		case a.Name == "LineNumberTable":
			k.checkLines(a, body, report)
		case a.Name == "LocalVariableTable":
			k.variables = k.appendVariables(k.variables, a, body, true, report)
		case a.Name == "LocalVariableTypeTable" && k.major >= majorJava5:
			k.typed = k.appendVariables(k.typed, a, body, false, report)
		case a.Name == "StackMapTable" && k.major >= majorFrames:
			if frames++; frames == 1 {
				of.stackMap = a.Info
			} else if frames == 2 {
				report(ruleStackMap, "one StackMapTable", "two")
			}
		}
	}
	typed := k.typed[start:]
	of.variables = k.variables[untyped:]
	if hasDuplicate(of.variables) && k.major >= majorJava5 {
		report("JVMS 4.7.13", "each variable once", "twice")
	}
	if len(of.variables) == 0 {
		return // HotSpot ignores LocalVariableTypeTable without LocalVariableTable
	}
	bad := hasDuplicate(typed)
	for i := 0; i < len(typed) && !bad; i++ {
		_, found := slices.BinarySearch(of.variables, typed[i])
		bad = !found
	}
	if bad {
		report("JVMS 4.7.14", "one row of LocalVariableTable for each of LocalVariableTypeTable", "none or two")
	}
}

// hasDuplicate sorts the keys and reports whether two are equal.
func hasDuplicate(keys []variableKey) bool {
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			return true
		}
	}
	return false
}

// checkLines checks a LineNumberTable (JVMS 4.7.12).
func (k *checker) checkLines(a *classfile.Attribute, body *classfile.Code, report func(rule, want, got string)) {
	if len(a.Info) < 2 || len(a.Info) != 2+4*int(u2(a.Info)) {
		report("JVMS 4.7.12", "LineNumberTable as long as its count says", fmt.Sprint(len(a.Info)))
		return
	}
	for row := a.Info[2:]; len(row) >= 4; row = row[4:] {
		if int(u2(row[:2])) >= len(body.Bytecode) {
			report("JVMS 4.7.12", "lines in the code", fmt.Sprintf("one at %d", u2(row)))
			return
		}
	}
}

// appendVariables checks a LocalVariableTable or LocalVariableTypeTable (JVMS 4.7.13, 4.7.14), and appends the keys of
// its rows to keys. described is set for the former, whose rows have a descriptor.
func (k *checker) appendVariables(keys []variableKey, a *classfile.Attribute, body *classfile.Code, described bool,
	report func(rule, want, got string)) []variableKey {
	table, ok := code.Variables(a.Info)
	if !ok {
		report("JVMS 4.7.13", a.Name+" as long as its count says", fmt.Sprint(len(a.Info)))
		return keys
	}
	for i := range table.Len() {
		v := table.At(i)
		key := variableKey(v.Start)<<48 | variableKey(v.Length)<<32 | variableKey(v.Name)<<16 | variableKey(v.Index)
		if key.start() >= len(body.Bytecode) || key.end() > len(body.Bytecode) {
			report("JVMS 4.7.13", "ranges of variables in the code", fmt.Sprintf("%d to %d", key.start(), key.end()))
			return keys
		}
		if !k.validName(v.Name, classfile.FieldName) || described && !k.fieldType(v.Descriptor) || !k.isUtf8(v.Descriptor) {
			report("JVMS 4.7.13", "a variable's name and descriptor",
				quoted(k.pool.Text(v.Name)+" "+k.pool.Text(v.Descriptor)))
			return keys
		}
		last := int(v.Index)
		if described && k.constants[v.Descriptor].value.isWide() {
			last++
		}
		if last >= int(body.MaxLocals) {
			report("JVMS 4.7.13", "variables below max_locals", fmt.Sprint(last))
			return keys
		}
		keys = append(keys, key)
	}
	return keys
}
