# Compiles the Java halves of Verify and CompileAll.
. "$recipe/prelude.sh"
for tool in Verify CompileAll; do
	java8 -bootclasspath "$core/classes.jar" -d $tool "$recipe/java/$tool.java"
	d8 --lib "$core/classes.jar" --output $tool.jar $tool/*.class
	rm -r $tool
done
