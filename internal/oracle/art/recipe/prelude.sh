# What the steps of the recipe share. A step runs in the empty directory that it fills. Variables name the directories
# of the steps before it, of the recipe ($recipe), and the number of jobs ($jobs). A step that was cut off starts anew,
# unless it sets resumes.
set -euo pipefail
[ "${resumes:-}" ] || find . -mindepth 1 -delete

# change FILE SED-PROGRAM edits a file, and fails if nothing changes.
change() {
	local before
	before=$(sha256sum <"$1")
	sed -i -E "$2" "$1"
	[ "$(sha256sum <"$1")" != "$before" ] || { echo "nothing to change in $1" >&2; return 1; }
}

# libraries prints the directory of Debian's libraries of Android.
libraries() { echo "$packages"/unpacked/usr/lib/*/android; }

# each COMMAND runs an exported function for each line of standard input, $jobs at a time.
each() { xargs -P "$jobs" -I{} bash -euo pipefail -c "$1 {}"; }

# What a short run of Java takes the least time with.
brief="-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

# d8 ARGUMENT... makes DEX files for API 30. It prints nothing unless it fails.
d8() {
	java -Xmx2g $brief -cp "$r8" com.android.tools.r8.D8 --release --min-api 30 --thread-count 2 "$@" \
		>d8.log 2>&1 || { tail -n 20 d8.log >&2; return 1; }
	rm d8.log
}

# java8 ARGUMENT... compiles Java for Android: javac knows neither its core library nor newer class files.
java8() {
	javac -J-Xmx2g ${brief//-XX/-J-XX} -source 8 -target 8 -nowarn -XDignore.symbol.file -proc:none -encoding UTF-8 "$@"
}
