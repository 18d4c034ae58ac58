# Builds dex2oat, which compiles ahead of time, for Debian's libart and the compiler. Object files that a build made
# before it was cut off are kept.
resumes=1
. "$recipe/prelude.sh"
to=$PWD
export object=$PWD/object cxx="$(cat "$artsource/cxx") -Idex2oat -Idex2oat/include -I$recipe/lz4 -I$PWD/object"
mkdir -p "$object"
cd "$artsource"
python3 tools/generate_operator_out.py art/dex2oat dex2oat/dex/dex_to_dex_compiler.h dex2oat/driver/compiler_driver.h \
	dex2oat/linker/image_writer.h >"$object/operator_out.cc"
# The sorting of libstdc++ takes the difference of iterators that are constant.
rm -rf "$object/dexlayout" && cp -r dexlayout "$object/"
change "$object/dexlayout/dex_ir.h" 's/operator-\(const Iterator& rhs\) \{/operator-(const Iterator\& rhs) const {/'
# compile FILE makes an object file, unless it is there.
compile() {
	local to=${1#"$object"/}
	to=$object/$(tr / _ <<<"${to%.cc}").o
	[ -e "$to" ] || { $cxx -I"$object/dexlayout" -c "$1" -o "$to.part" && mv "$to.part" "$to"; }
}
export -f compile
{
	printf 'dex2oat/%s.cc\n' dex2oat dex2oat_options dex/{dex_to_dex_compiler,quick_compiler_callbacks} \
		driver/compiler_driver linker/{elf_writer,elf_writer_quick,image_writer,multi_oat_relative_patcher} \
		linker/{oat_writer,relative_patcher,x86_64/relative_patcher_x86_64,x86/relative_patcher_x86_base}
	printf "$object/dexlayout/%s.cc\n" compact_dex_writer dexlayout dex_ir dex_ir_builder dex_verify dex_visualize \
		dex_writer
	echo "$object/operator_out.cc"
} | each compile
cd "$to"
named=
for library in sigchain art backtrace base crypto dexfile_external dexfile_support log nativebridge nativeloader \
	ziparchive; do
	named="$named -l:lib$library.so.0"
done
clang++ -fuse-ld=lld -s -rdynamic -o dex2oat "$object"/*.o -L"$(libraries)" -L"$compiler" -Wl,--allow-shlib-undefined \
	-Wl,--no-as-needed $named -l:libart-compiler.so -l:liblz4.so.1 -lz
rm -r "$object"
