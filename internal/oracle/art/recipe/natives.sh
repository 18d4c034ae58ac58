# Builds the native half of the core library against Debian's libraries of Android, and copies those beside it.
. "$recipe/prelude.sh"
luni=$libcore/luni/src/main/native ojluni=$libcore/ojluni/src/main/native include=$packages/unpacked/usr/include
export flags="-O1 -fPIC -w -D_GNU_SOURCE -D_LARGEFILE64_SOURCE -DLINUX -DNDEBUG -D__has_feature(x)=0
	-I$recipe/shim -I$include/android -I$include/android/nativehelper -I$include -I$libcore/include -I$luni -I$ojluni"
mkdir core jdk
# compile FILE makes an object file: of luni in core, of ojluni in jdk.
compile() {
	local to=jdk
	[ "${1#*/ojluni/}" != "$1" ] || to=core
	to=$to/${1##*/}.o
	case $1 in
	*.c) gcc $flags -c "$1" -o "$to" ;;
	*/ojluni/*) g++ -std=gnu++17 -include cstring -fpermissive $flags -c "$1" -o "$to" ;;
	*) g++ -std=gnu++17 -include cstring -DU_USING_ICU_NAMESPACE=0 -fpermissive $flags -c "$1" -o "$to" ;;
	esac
}
export -f compile
{
	sed -n '/luni_native_srcs/,/\]/p' "$luni/Android.bp" | grep -oE '[A-Za-z_0-9]+\.cpp' | sed "s#^#$luni/#"
	echo "$luni/AsynchronousCloseMonitor.cpp"
	echo "$libcore/dalvik/src/main/native/org_apache_harmony_dalvik_NativeTestTarget.cpp"
	grep -oE '[A-Za-z_0-9]+\.(cpp|c)"' "$ojluni/Android.bp" | tr -d '"' | sed "s#^#$ojluni/#"
} | each compile
cp -a "$(libraries)"/*.so* .
rm -f lib7z.so
link="-L. -Wl,--allow-shlib-undefined"
g++ -shared -o libandroidio.so core/AsynchronousCloseMonitor.cpp.o $link -llog
rm core/AsynchronousCloseMonitor.cpp.o
g++ -std=gnu++17 -O1 -fPIC -shared $flags -o libopenjdkjvm.so "$recipe/src/openjdkjvm.cc" $link -l:libart.so.0
link="$link -Wl,--no-undefined -landroidio -lbase -llog -lnativehelper -lcrypto"
g++ -shared -o libjavacore.so core/*.o $link -lziparchive -lexpat -licuuc -licui18n -lz
g++ -shared -o libopenjdk.so jdk/*.o $link -lopenjdkjvm -licuuc -lz -ldl -lpthread
gcc -shared -fPIC -o libicu_jni.so -x c - <<<'int JNI_OnLoad(void* vm, void* reserved) { return 0x00010006; }'
rm -r core jdk
