// Package filter decides which methods are traced and reports why the other methods are skipped.
//
// A [Filter] is made once, by [New], from rules, a trivial mode and the name of the runtime class. [Filter.ForClass]
// computes what holds for a whole class; [ClassFilter.Decide] then decides about each of its methods. A [Decision] is
// "traced", or a [Reason] with a detail for the report. The decision depends on the class file and the options only.
// Some reasons need more than that: a trial injection, all inputs, or verification. Their constants are declared
// here, and other packages find them.
//
// Rules on supertypes need the whole class hierarchy. If such a rule could change a decision, the decision is
// [Pending]: it lists the rules that may match, and its reason is the one that holds if none of these rules blocks
// the method. A pending decision can be stored. [Filter.Resolve] makes it final when all supertypes of the class are
// known.
//
// # Order of reasons
//
// If several reasons fit a method, it gets the first of: unsupported-version, module-info, runtime, blocked,
// generated, bridge, synthetic-accessor, inline-template, profile, trivial, unknown-attribute, library. First come the
// reasons that no option can change, then the user's choices, then methods that are not worth measuring, and then
// methods that could not be measured. Behind all of them come methods that only the scope leaves out: their number is
// what it costs. Only a method that would be traced otherwise is continuation or bounded.
//
// A rule with allow cancels earlier rules with block and does nothing else: a trivial getter that a rule allows is
// still skipped as trivial, and one whose level in a profile is none as profile. Code that cannot be decoded is
// "malformed" when a check reads an invalid instruction. If an earlier check already decides, the remaining code is not
// read here; injection reads all of it.
//
// # Libraries
//
// A [Scope] leaves out methods of libraries, whose classes the caller names. Whether a method can take long by itself
// is found in its code: a loop, a lock, or a call of a method in the list lists/waits.tsv. Classes in the list
// lists/families.tsv are left out whatever they do. If only the calls of the program itself can let a method be
// traced, the decision is pending. A rule that allows a method of a library cancels the scope too.
//
// # Rules
//
// Rules form one ordered list. The last rule that matches a method wins. A method that no rule matches is not
// blocked. A rule has a pattern:
//
//	com.example.Foo            the class and its nested classes, at any depth
//	com.example.*              the classes of one package
//	com.example.**             the classes of the package and of all packages below it
//	**.*Binding                classes of any package, the unnamed package included
//	com.example.Feed#get*      methods by name; <init> and <clinit> are names
//	com.example.Feed#get*(**)  the same: any parameters
//	Feed#put(I[L**.Key;)       parameters as in a descriptor (JVMS 4.3.3)
//	Feed#put(I[Lcom.Key;)V     parameters and return type
//
// Dots and slashes mean the same. The parts between them are segments, and a pattern matches whole segments: org
// matches a class named org, but not the package org and not organizer. Within a segment, * matches any number of
// characters, also none; $ is an ordinary character. The segment ** matches any number of packages; as the last
// segment it matches at least a class name. A class pattern also matches nested classes: names that begin with a
// match and continue with $.
//
// In a list of parameters, ** is any number of them, also within the name of a class, and * any characters of a name
// but separators. A class name there does not include nested classes. After the closing parenthesis there may be a
// return type, or * for any: (**)V matches methods that return nothing.
//
// # Conditions
//
// Instead of a pattern, a rule may have conditions. All of them must hold.
//
//	class, method         the two halves of a pattern
//	annotation            a class pattern: the method or its class has an annotation whose type the pattern
//	                      matches, visible at run time or not (JVMS 4.7.16, 4.7.17)
//	extends, implements   a class pattern that matches a direct or indirect supertype. Both keys mean the same,
//	                      as for R8; if both are given, both must hold
//
// The patterns of annotation, extends and implements do not match nested classes of the type, and a class does not
// inherit these conditions from the class around it. A class is not its own supertype.
//
// # Speed
//
// All rules are compared with each class once, from the last one backward to one that matches all of its methods. Most
// differ in the literal text that a pattern begins or ends with, which costs two nanoseconds for a rule and a class.
// Only the rules that remain are compared with each method.
//
// # Files
//
// [ParseConfig] reads tracegen.yml: the rules, and options as plain strings, whose meaning is up to the caller.
// [ParseBlockList] reads the block lists of Matrix, [ParseProfile] what recordings have shown of methods. All errors of
// a file are reported together, each with its line.
package filter
