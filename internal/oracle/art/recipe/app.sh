# Makes a boot jar of the classes of Android 11 that app.txt lists: those that an Application, an Activity, and what
# they need load, without those that the framework's jar has.
. "$recipe/prelude.sh"
jar -tf "$android" | grep -E "^($(paste -sd'|' "$recipe/app.txt"))(\\\$[^/]*)?\.class\$" |
	grep -v -x -F -f <(jar -tf "$framework/classes.jar") >list
mkdir all
(cd all && jar -xf "$android" @../list && jar -c -M -f ../classes.jar .)
d8 --android-platform-build --lib "$core/classes.jar" --classpath "$framework/classes.jar" --classpath "$core/all" \
	--output app.jar classes.jar
rm -r all list
