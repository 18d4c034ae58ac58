# Reads the output of `go test -v`. Keeps the output of a test until its result is known, and drops it if it passed.
/^=== (RUN|CONT|NAME|PAUSE) / { test = $3; next }
/^ *--- (PASS|FAIL|SKIP): / {
	result = $2; name = $3; sub(/:$/, "", result)
	if (result == "FAIL") failed++
	if (result == "PASS") passed++
	isLong = 0
	if (result == "SKIP") {
		# The reason is the last line that the test printed.
		reason = held[name]
		sub(/\n$/, "", reason); sub(/.*\n/, "", reason); sub(/^[ \t]*[^ ]+:[0-9]+: /, "", reason)
		isLong = reason ~ /of make nightly$/
		if (isLong) long++
		else { skipped++; missed = missed "not run: " name ": " reason "\n" }
	}
	if (result != "PASS" && !isLong || held[name] ~ /DATA RACE/) { printf "%s", held[name]; print }
	delete held[name]
	# Lines that follow the result of a parent belong to no test.
	next
}
/measured: / { print; next }
/^(ok|FAIL|PASS|panic:|exit status|\?|#|testing:|coverage:)/ {
	if (/^PASS$/) { test = ""; next }
	# If a package crashes, the output of its running tests is printed.
	if (/^(panic:|FAIL\t)/) { for (t in held) printf "%s", held[t]; split("", held) }
	test = ""; print; fflush(); next
}
test != "" { held[test] = held[test] $0 "\n"; if (length(held[test]) > 200000) { printf "%s", held[test]; held[test] = "" }; next }
{ print }
END {
	for (t in held) printf "%s", held[t]
	printf "%s", missed
	sum = sprintf("tests: %d passed, %d failed, %d not run", passed, failed, skipped)
	if (long) sum = sum sprintf("; %d more are long, and in make nightly", long)
	print sum
	print sum >>sums
}
