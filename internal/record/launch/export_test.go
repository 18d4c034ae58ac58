package launch

// NamedJava is namedJava, for batch files on other systems.
var NamedJava = namedJava
