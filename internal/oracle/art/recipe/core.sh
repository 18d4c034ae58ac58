# Compiles the core library. What Debian's package lacks comes from Android 11, as Robolectric publishes it.
. "$recipe/prelude.sh"
mkdir all classes
(cd all && jar -xf "$android" java/ javax/ libcore/ dalvik/ org/ android/{icu,os,net,util,system,compat,annotation}/ \
	com/android/{org,internal/os,internal/util}/)
find "$libcore"/{ojluni,luni,libart,dalvik,json,xml}/src/main/java -name '*.java' |
	grep -v Java9LanguageFeatures >sources
printf '%s\n' "$libcore"/ojluni/src/lambda/java/java/lang/invoke/{LambdaMetafactory,SerializedLambda}.java \
	"$recipe/java/bench/Rng.java" >>sources
java8 -g -bootclasspath /nonexistent -classpath all -d classes @sources 2>javac.log ||
	{ grep -A2 error: javac.log >&2; exit 1; }
# ART looks into these classes, so they must be those of Android 11.
rm -r classes/dalvik/system && cp -r all/dalvik/system classes/dalvik/
cp all/java/lang/DexCache.class classes/java/lang/ && cp all/libcore/util/FP16.class classes/libcore/util/
jar -c -M -f classes.jar -C classes .
d8 --android-platform-build --classpath all --output core.jar classes.jar
mkdir -p security/java/security
echo 'security.provider.1=bench.Rng' >security/java/security/security.properties
jar -u -M -f core.jar -C security .
rm -r sources javac.log classes security
