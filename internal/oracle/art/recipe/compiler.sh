# Builds the optimizing compiler for Debian's libart. Object files that a build made before it was cut off are kept.
resumes=1
. "$recipe/prelude.sh"
export object=$PWD/object cxx="$(cat "$artsource/cxx")"
mkdir -p "$object"
cd "$artsource"
# list PROGRAM prints the sources of libart-compiler that a sed program selects in Android's list.
list() {
	sed -n '/name: "libart-compiler-defaults"/,/^    generated_sources/p' compiler/Android.bp | sed -n "$1" |
		grep -oE '"[a-z0-9_/]+\.cc"'
}
sources=$(
	{ list '1,/^    codegen/p'; list '/ x86_64: {/,/}/p'; } | tr -d '"' | sed 's#^#compiler/#'
	printf '%s\n' compiler/optimizing/{instruction_simplifier_x86_shared,x86_memory_gen}.cc \
		debian/out/compiler_operator_out.cc libelffile/stream/{buffered_output,file_output,output,vector_output}_stream.cc \
		"$recipe/src/xz.cc"
)
# The files of optimizing share these headers; with them compiled before they take a fifth of the time.
{
	printf '#include <%s>\n' cmath cfloat cstring iostream sstream map set string vector algorithm
	printf '#include "%s"\n' optimizing/{nodes,code_generator,optimization}.h driver/compiler_options.h \
		class_linker-inl.h art_method-inl.h thread-inl.h scoped_thread_state_change-inl.h \
		mirror/{class,dex_cache}-inl.h handle_scope-inl.h
} >"$object/shared.h"
$cxx -x c++-header "$object/shared.h" -o "$object/shared.pch"
# compile FILE makes an object file, unless it is there.
compile() {
	local to=${1//\//_} shared=
	to=$object/${to%.cc}.o
	case $1 in compiler/optimizing/*) shared="-include-pch $object/shared.pch" ;; esac
	[ -e "$to" ] || { $cxx $shared -c "$1" -o "$to.part" && mv "$to.part" "$to"; }
}
export -f compile
each compile <<<"$sources"
cd - >/dev/null
# With --no-undefined what the library does not export is an error here.
clang++ -shared -fuse-ld=lld -s -o libart-compiler.so "$object"/*.o -L"$(libraries)" -l:libart.so.0 -l:libbase.so.0 \
	-l:liblog.so.0 -Wl,-soname,libart-compiler.so -Wl,--no-undefined -Wl,--allow-shlib-undefined
rm -r "$object"
