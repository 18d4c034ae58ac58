package filter

import "strings"

// knownClass is a class that is in no input, some of whose methods are known to be bounded. Initialising it takes no
// longer than a bounded method may, or is done before the program starts.
//
// All its methods that are called by invokevirtual are final, or the class is, so that no other method is called in
// their place.
type knownClass struct {
	names   string // of classes, in internal form, separated by blanks
	reason  string // why initialising them is bounded, and these methods are
	size    int    // the greatest number of instructions that one of the methods executes
	methods string // names with descriptors, separated by blanks
}

// knownClasses are the JDK's, Android's and Kotlin's. What throws for a faulty program alone, as an instruction does
// whose operand is null, counts as bounded.
//
// A method is here only if HotSpot's own bytes of it, which TestKnownMethods counts as they run, stay below the size.
// Where Android's differ they are at most as long. Methods whose time depends on an argument are not, such as
// String.equals, StringBuilder.append and System.arraycopy; nor is a constructor of Throwable, which walks the stack.
var knownClasses = []knownClass{
	{"java/lang/Object", "it does nothing, or reads the header of the object", 1,
		"<init>()V getClass()Ljava/lang/Class;"},
	{"java/lang/Enum", "reads or sets fields; a JVM initialises it at its start", 12,
		"<init>(Ljava/lang/String;I)V ordinal()I name()Ljava/lang/String; equals(Ljava/lang/Object;)Z"},
	{"java/lang/Record java/lang/Number", "an empty constructor", 4, "<init>()V"},
	{"java/lang/Boolean", "boxes are constants", 8,
		"valueOf(Z)Ljava/lang/Boolean; booleanValue()Z compare(ZZ)I hashCode(Z)I"},
	{"java/lang/Integer", "boxes are cached, or one object; a JVM makes the cache at its start", 24,
		"valueOf(I)Ljava/lang/Integer; intValue()I longValue()J floatValue()F doubleValue()D compare(II)I hashCode(I)I " +
			"max(II)I min(II)I signum(I)I rotateLeft(II)I rotateRight(II)I"},
	{"java/lang/Long", "boxes are cached, or one object", 24,
		"longValue()J intValue()I floatValue()F doubleValue()D compare(JJ)I hashCode(J)I max(JJ)J min(JJ)J"},
	{"java/lang/Short", "reads a field", 8, "shortValue()S intValue()I"},
	{"java/lang/Byte", "reads a field", 8, "byteValue()B intValue()I"},
	{"java/lang/Character", "reads a field", 8, "charValue()C"},
	{"java/lang/Float", "one object, or arithmetic", 24,
		"valueOf(F)Ljava/lang/Float; floatValue()F intValue()I doubleValue()D isNaN(F)Z isNaN()Z floatToRawIntBits(F)I " +
			"floatToIntBits(F)I intBitsToFloat(I)F"},
	{"java/lang/Double", "one object, or arithmetic", 24,
		"valueOf(D)Ljava/lang/Double; doubleValue()D intValue()I longValue()J floatValue()F isNaN(D)Z isNaN()Z " +
			"doubleToRawLongBits(D)J doubleToLongBits(D)J longBitsToDouble(J)D"},
	{"java/lang/Math", "arithmetic", 32,
		"abs(I)I abs(J)J abs(F)F abs(D)D max(II)I max(JJ)J min(II)I min(JJ)J max(FF)F min(FF)F max(DD)D min(DD)D " +
			"sqrt(D)D"},
	{"java/lang/String", "the length is stored", 24, "length()I isEmpty()Z"},
	{"java/lang/System", "a clock is read without waiting", 1, "currentTimeMillis()J nanoTime()J"},
	{"java/lang/Thread", "the thread is in a register", 1, "currentThread()Ljava/lang/Thread;"},
	{"java/util/Objects", "compares with null", 8,
		"requireNonNull(Ljava/lang/Object;)Ljava/lang/Object; isNull(Ljava/lang/Object;)Z nonNull(Ljava/lang/Object;)Z"},
	{"java/util/ArrayList java/util/HashMap java/util/LinkedHashMap java/util/HashSet",
		"an empty one has no table yet", 60, "<init>()V"},
	{"java/util/LinkedHashSet", "an empty one has no table yet, but the length of it is computed", 120, "<init>()V"},
	{"java/util/AbstractList java/util/AbstractMap java/util/AbstractSet java/util/AbstractCollection",
		"an empty constructor", 12, "<init>()V"},
	{"java/util/concurrent/atomic/AtomicBoolean", "one access of memory", 12, "<init>()V <init>(Z)V get()Z set(Z)V"},
	{"java/util/concurrent/atomic/AtomicInteger", "one access of memory", 12, "<init>()V <init>(I)V get()I set(I)V"},
	{"java/util/concurrent/atomic/AtomicLong", "one access of memory", 12, "<init>()V <init>(J)V get()J set(J)V"},
	{"java/util/concurrent/atomic/AtomicReference", "one access of memory", 12,
		"<init>()V <init>(Ljava/lang/Object;)V get()Ljava/lang/Object; set(Ljava/lang/Object;)V"},

	{"android/os/Build$VERSION", "fields that Zygote has set", 0, ""},
	{"android/os/SystemClock", "a clock is read without waiting", 1, "uptimeMillis()J elapsedRealtime()J"},
	{"android/view/View", "reads fields", 4, "getWidth()I getHeight()I getLeft()I getTop()I getRight()I getBottom()I"},
	{"android/view/View$MeasureSpec", "arithmetic", 20, "getMode(I)I getSize(I)I"},
	{"android/graphics/Color", "arithmetic", 20, "alpha(I)I red(I)I green(I)I blue(I)I argb(IIII)I rgb(III)I"},

	{"kotlin/Unit", "one object without fields", 0, ""},
	{"kotlin/jvm/internal/Intrinsics", "compares, and throws only for a fault of the program", 8,
		"checkNotNull(Ljava/lang/Object;)V checkNotNull(Ljava/lang/Object;Ljava/lang/String;)V " +
			"checkNotNullParameter(Ljava/lang/Object;Ljava/lang/String;)V " +
			"checkNotNullExpressionValue(Ljava/lang/Object;Ljava/lang/String;)V " +
			"checkParameterIsNotNull(Ljava/lang/Object;Ljava/lang/String;)V " +
			"checkExpressionValueIsNotNull(Ljava/lang/Object;Ljava/lang/String;)V " +
			"throwUninitializedPropertyAccessException(Ljava/lang/String;)V throwNpe()V " +
			"compare(II)I compare(JJ)I"},
}

// knownSizes are the sizes of [knownClasses] by class, and by name and descriptor.
var knownSizes = func() map[string]map[string]int {
	all := make(map[string]map[string]int)
	for _, row := range knownClasses {
		sizes := make(map[string]int)
		for method := range strings.FieldsSeq(row.methods) {
			sizes[method] = row.size
		}
		for name := range strings.FieldsSeq(row.names) {
			all[name] = sizes
		}
	}
	return all
}()

// KnownBound returns the greatest number of instructions that a method of the JDK, Android or Kotlin executes; known is
// false if the method is not known to be bounded.
func KnownBound(class, name, descriptor string) (size int, known bool) {
	sizes, known := knownSizes[class]
	if !known {
		return 0, false
	}
	// A text that is made for an access of a map alone takes no memory if it is short.
	size, known = sizes[name+descriptor]
	return size, known
}

// KnownClass reports whether initialising a class of the JDK, Android or Kotlin is bounded.
func KnownClass(class string) bool {
	_, known := knownSizes[class]
	return known
}

// isOfJDK reports whether a class is certainly in no input.
func isOfJDK(class string) bool { return strings.HasPrefix(class, "java/") }
