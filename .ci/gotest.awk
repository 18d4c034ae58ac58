# Reads `go test -v`. Output of a test is held until its verdict is known, and dropped if it passed.
/^=== (RUN|CONT|NAME|PAUSE) / { test = $3; next }
/^ *--- (PASS|FAIL|SKIP): / {
	verdict = $2; name = $3; sub(/:$/, "", verdict)
	if (verdict == "FAIL") failed++
	if (verdict == "PASS") passed++
	if (verdict == "SKIP") {
		skipped++
		# The reason is what the test said last.
		reason = held[name]
		sub(/\n$/, "", reason); sub(/.*\n/, "", reason); sub(/^[ \t]*[^ ]+:[0-9]+: /, "", reason)
		missed = missed "not run: " name ": " reason "\n"
	}
	if (verdict != "PASS" || held[name] ~ /DATA RACE/) { printf "%s", held[name]; print }
	delete held[name]
	# Lines that follow a parent's verdict belong to nobody.
	next
}
/measured: / { print; next }
/^(ok|FAIL|PASS|panic:|exit status|\?|#|testing:|coverage:)/ {
	if (/^PASS$/) { test = ""; next }
	# A package that dies takes the words of its last test with it.
	if (/^(panic:|FAIL\t)/) { for (t in held) printf "%s", held[t]; split("", held) }
	test = ""; print; fflush(); next
}
test != "" { held[test] = held[test] $0 "\n"; if (length(held[test]) > 200000) { printf "%s", held[test]; held[test] = "" }; next }
{ print }
END {
	for (t in held) printf "%s", held[t]
	printf "%s", missed
	printf "tests: %d passed, %d failed, %d not run\n", passed, failed, skipped
}
