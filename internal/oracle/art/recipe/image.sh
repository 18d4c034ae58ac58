# Compiles the core library and the framework ahead of time, and writes the boot image that ART starts from.
. "$recipe/prelude.sh"
mkdir x86_64
export ANDROID_ROOT=$launcher/root ANDROID_DATA=$launcher/data ANDROID_ART_ROOT=$launcher/art-root
export ANDROID_I18N_ROOT=$launcher/i18n ANDROID_TZDATA_ROOT=$launcher/tzdata ANDROID_LOG_TAGS='*:e'
export LD_LIBRARY_PATH=$natives:$compiler
# The heap must leave room for the image below 4 GB. With its watchdog, dex2oat would end itself on a busy machine.
"$dex2oat/dex2oat" --image="$PWD/x86_64/boot.art" --oat-file="$PWD/x86_64/boot.oat" --dex-file="$core/core.jar" \
	--dex-file="$framework/framework.jar" --instruction-set=x86_64 --instruction-set-features=default \
	--android-root="$ANDROID_ROOT" --base=0x70000000 --compiler-filter=speed -j"$jobs" --no-watch-dog \
	--runtime-arg -Xms600m --runtime-arg -Xmx600m \
	--runtime-arg -Xbootclasspath:"$core/core.jar:$framework/framework.jar"
