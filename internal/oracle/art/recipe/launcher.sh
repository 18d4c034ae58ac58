# Builds the program that starts ART, with the natives of android.os, and the library of Verify; and the
# directories that ART wants to find.
. "$recipe/prelude.sh"
include=$packages/unpacked/usr/include/android/nativehelper
link="-L$(libraries) -Wl,--allow-shlib-undefined"
named=
for library in sigchain art backtrace base dexfile_external dexfile_support log nativebridge nativeloader \
	ziparchive; do
	named="$named -l:lib$library.so.0"
done
gcc -O1 -Wall -o launcher "$recipe/src/launcher.c" "$recipe/src/framework.c" -I"$include" -rdynamic $link \
	-Wl,--no-as-needed $named -l:liblz4.so.1 -lz -lstdc++
g++ -std=gnu++17 -O1 -fPIC -shared -I"$include" -o libverify.so "$recipe/src/verify.cc" $link -l:libart.so.0
mkdir -p root art-root i18n tzdata data/dalvik-cache/x86_64
