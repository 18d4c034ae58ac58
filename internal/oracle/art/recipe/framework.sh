# Makes a boot jar of the classes of Android 11 that framework.txt lists, and ICU with its data.
. "$recipe/prelude.sh"
cd "$core/all"
listed="^($(paste -sd'|' "$recipe/framework.txt"))(\\\$[^/]*)?\.class\$"
find . -name '*.class' | sed 's#^\./##' | grep -E "$listed" | sort >"$OLDPWD/list"
jar -c -M -f "$OLDPWD/classes.jar" @"$OLDPWD/list"
cd "$OLDPWD"
d8 --android-platform-build --lib "$core/classes.jar" --classpath "$core/all" --output framework.jar classes.jar
mkdir -p data/android
cp -r "$core/all/android/icu" data/android/ && find data -name '*.class' -delete
jar -u -M -f framework.jar -C data .
rm -r data list
