# Builds both halves of Steps, which counts instructions.
. "$recipe/prelude.sh"
to=$PWD
cd "$artsource"
$(cat cxx) -c "$recipe/src/steps.cc" -o "$to/steps.o"
cd "$to"
clang++ -shared -fuse-ld=lld -s -o libsteps.so steps.o -L"$(libraries)" -l:libart.so.0 -l:libbase.so.0 \
	-Wl,--no-undefined -Wl,--allow-shlib-undefined
rm steps.o
java8 -bootclasspath "$core/classes.jar" -d classes "$recipe/java/Steps.java"
d8 --lib "$core/classes.jar" --output Steps.jar classes/*.class
rm -r classes
