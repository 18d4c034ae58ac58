# Builds the library of compileall, which calls the compiler.
. "$recipe/prelude.sh"
to=$PWD
cd "$artsource"
$(cat cxx) -c "$recipe/src/compileall.cc" -o "$to/compileall.o"
cd "$to"
clang++ -shared -fuse-ld=lld -s -o libcompileall.so compileall.o -L"$(libraries)" -l:libart.so.0 -l:libbase.so.0 \
	-Wl,--no-undefined -Wl,--allow-shlib-undefined
rm compileall.o
