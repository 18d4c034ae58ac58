// Package filter decides which methods are traced, and says why the others are
// not.
//
// A [Filter] is made once, by [New], from rules, a trivial mode and the name of
// the runtime class. [Filter.ForClass] looks at all that depends on a class;
// [ClassFilter.Decide] then judges its methods. A [Decision] is either "traced"
// or one [Reason] with a detail for people. Nothing but the class itself is
// looked at. Reasons that need more (a trial injection, all inputs, a verifier)
// have their constants here and are found by others.
//
// Rules on supertypes need all inputs. A decision that they have a say in is
// [Pending]: it names the rules that may match, and holds the reason, if there is
// any, that the method has in case that none of them blocks it. It can be stored,
// and is made final by [Filter.Resolve] when the supertypes of the class are known.
//
// # Order
//
// A method that several reasons fit gets the first of unsupported-version,
// module-info, runtime, blocked, generated, bridge, synthetic-accessor,
// inline-template, trivial, unknown-attribute: first what no option can change,
// then what the user said, then what is not worth measuring, and last what
// could not be measured, so that this last list holds real losses only. A rule
// that allows takes back rules that block, nothing else: an allowed getter is
// still trivial. Code that cannot be decoded is malformed as soon as an
// instruction is read that is not one; a decision that is made earlier reads no
// further, and leaves the rest to injection, which reads all.
//
// # Rules
//
// Rules are one ordered list. The last one that matches a method wins; a method
// that none matches is not blocked. A rule is made from a pattern:
//
//	com.example.Foo            the class and its nested classes, at any depth
//	com.example.*              the classes of one package
//	com.example.**             those of the packages below it as well
//	**.*Binding                in any package, the unnamed one included
//	com.example.Feed#get*      the methods of these names; <init> and <clinit> are names
//	com.example.Feed#get*(**)  the same: any parameters
//	Feed#put(int, **.Key[])    parameters as in Java, with full class names
//	Feed#put(I[Lcom/Key;)V     or as a descriptor of the JVM
//
// Dots and slashes are the same. A segment is what stands between two of them,
// and patterns match whole segments: org is a class called org, not a package,
// and never organizer. In a segment * stands for any characters, none included;
// $ is a character like any other. A segment ** stands for any number of
// packages, at the end for at least the class. Every class pattern covers nested
// classes too, that is what has its match and then a $ in front.
//
// In Java form, * is one parameter of any type, ** at the end any number, and a
// class name may hold wildcards but stands for itself alone, without its nested
// classes. The return type is not part of it. What can be read as field
// descriptors (JVMS 4.3.2) is: (I) is an int. After the closing parenthesis a
// return descriptor may follow, or * for any; (**)V is any method without a
// result.
//
// # Conditions
//
// Instead of a pattern, a rule may have conditions, all of which have to hold:
//
//	class, method         the two halves of a pattern
//	annotation            a class pattern: the method or its class has an annotation, visible at run time or not
//	                      (JVMS 4.7.16, 4.7.17), whose type it matches
//	extends, implements   a class pattern that matches a supertype, at any distance; both words mean the same, as
//	                      they do to R8, and each has to be met if both are there
//	public, protected, private, static, final, synchronized, varargs, strictfp
//	                      true or false: the flag of the method (JVMS table 4.6-A)
//	synthetic             likewise, the method's or its class's
//	abstract, interface, enum, record
//	                      likewise, what the class is; interfaces are abstract too
//	loop                  likewise, whether a branch of the method goes to itself or backward
//	instructions          comparisons with their number, such as ">200" or ">=10 <50"; a wide prefix is
//	                      a part of its instruction, as for javap
//
// Types in annotation, extends and implements are matched alone, without what is nested in them, and what they say
// of a class they do not say of its nested classes. A class is not its own supertype. Of code that cannot be decoded,
// neither loop nor instructions says anything.
//
// # Speed
//
// Patterns are compiled into a tree of packages with tables of class names, so
// that a class is only held against rules that its package has; rules for every
// class (**#toString) are found by the method's name, rules on annotations and
// supertypes by the names of those. Only conditions that name nothing are asked of
// every class.
//
// # Files
//
// [ParseConfig] reads tracegen.yml: the rules, and options as plain strings whose
// meaning is the caller's. [ParseBlockList] reads the block lists of Matrix. All
// errors of a file are reported together, each with its line.
package filter
