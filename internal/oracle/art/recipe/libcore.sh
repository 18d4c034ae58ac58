# Unpacks java.* of Android 10, which Debian's source package has, and changes what does not fit ART of Android 11.
. "$recipe/prelude.sh"
dpkg-source --no-check -x "$packages"/files/android-platform-libcore_*.dsc source >/dev/null
mv source/* . && rm -rf source
java=ojluni/src/main/java/java
# The ICU is that of Android 11.
change $java/text/DecimalFormat.java 's/DecimalFormat_ICU58_Android/DecimalFormat/g'
# A field of mirror::Field, by its name of Android 11.
change $java/lang/reflect/Field.java 's/dexFieldIndex/artFieldIndex/g'
# Android 11 registers this native method.
change $java/lang/Thread.java 's/^class Thread implements Runnable \{/& private static native int getNativeTid();/'
# Where Android 11 has this method. Without it ART cannot initialize the class ahead of time.
change libart/src/main/java/java/lang/Daemons.java \
	's/VMRuntime\.getRuntime\(\)\.isDebuggerActive\(\)/dalvik.system.VMDebug.isDebuggerConnected()/'
# Android 11 initializes the class before libjavacore is there.
change $java/io/FileDescriptor.java 's/= dupFd\(([012])\);/= new FileDescriptor(\1);/'
change ojluni/src/main/native/StrictMath.c 's#"../../external/fdlibm/fdlibm.h"#"strict_math.h"#'
# The ICU of the natives is Debian's, which needs no registration.
registers='jniRegisterNativeMethods(env, "libcore\/icu\/ICU", gMethods, NELEM(gMethods));'
change luni/src/main/native/libcore_icu_ICU.cpp \
	"s/sIcuRegistration.reset\(new ICURegistration\(env\)\);/UErrorCode status = U_ZERO_ERROR; u_init(\&status); $registers/"
