# Unpacks the sources of ART, and writes the file cxx: the command that compiles one of them here, with the flags that
# Debian's makefile has for libart, so that the layouts of its structures are those of the library.
. "$recipe/prelude.sh"
dpkg-source --no-check -x "$packages"/files/android-platform-art_*.dsc source >/dev/null 2>&1
mv source/* . && rm -rf source
optimizing=compiler/optimizing
# Android builds the code generators of x86 and x86-64 only together; here it is x86-64 alone.
change $optimizing/nodes.h \
	's/^#ifndef ART_ENABLE_CODEGEN_x86$/#if !defined(ART_ENABLE_CODEGEN_x86) \&\& !defined(ART_ENABLE_CODEGEN_x86_64)/'
x86="#if defined(ART_ENABLE_CODEGEN_x86) || defined(ART_ENABLE_CODEGEN_x86_64)"
change $optimizing/optimization.cc "s/^      case OptimizationPass::kX86MemoryOperandGeneration:/#endif\\n$x86\\n&/
	s/^      case OptimizationPass::kInstructionSimplifierX86:/#endif\\n#ifdef ART_ENABLE_CODEGEN_x86\\n&/"
# These iterators are one type in libc++ and two in libstdc++.
change $optimizing/register_allocator_linear_scan.cc \
	's/^static ArenaVector<LiveInterval\*>::iterator/static ScopedArenaVector<LiveInterval*>::iterator/'
# words PATTERN prints the words of the makefile's CPPFLAGS that match.
words() { sed -n '/^CPPFLAGS += /,/[^\\]$/p' debian/libart.mk | grep -oE -- "$1" | sed 's/\${CPU}/x86_64/'; }
defines=$(words '-D[A-Za-z_0-9${}]+(=[-A-Za-z_0-9]+)?' | grep -v BUILDING_LIBART)
grep -q ART_USE_READ_BARRIER=1 <<<"$defines" || { echo "debian/libart.mk has no defines" >&2; exit 1; }
include=$packages/unpacked/usr/include/android
cxx="clang++ -O1 -fPIC -std=gnu++17 -fno-exceptions -fno-rtti -fno-omit-frame-pointer -fstrict-aliasing -w
	-DNDEBUG -UDEBUG $defines $(words '-I[^ ]+' | grep -v '^-I/') -I$include -I$include/nativehelper
	-Ilibelffile -Icompiler -Idisassembler"
mkdir debian/out
$cxx -S -o debian/out/asm_defines.output tools/cpp-define-generator/asm_defines.cc
python3 tools/cpp-define-generator/make_header.py debian/out/asm_defines.output >debian/out/asm_defines.h
python3 tools/generate_operator_out.py art/compiler compiler/driver/compiler_options.h compiler/linker/linker_patch.h \
	$optimizing/locations.h $optimizing/optimizing_compiler_stats.h >debian/out/compiler_operator_out.cc
tr '\n\t' '  ' <<<"$cxx" >cxx
