# Every target needs only Go, unless its help says otherwise. `make test` fetches the rest: on a Debian machine, as
# root, also the JDK and Maven.
SHELL := /bin/bash
GO ?= go
TRACEGEN_FUZZTIME ?= 60s

.PHONY: help art build deps deps-nightly test nightly bare builds race fuzz corpus mutants golden bench check sample runtime screenshots release release-check clean

help:
	@echo "build    ./tracegen"
	@echo "test     what each push runs                             (six minutes)"
	@echo "nightly  the long tests, in sixteen shares; SHARES=... names some of them (an hour)"
	@echo "art      ART of Android 11 from Debian's packages, and the tests on it (four minutes; 350 MB)"
	@echo "bare     the README's two commands on a fresh Debian that has nothing installed (root, on Debian; an hour)"
	@echo "builds   real builds with Gradle, Android plugins, Maven and Bazel, every version (an hour; downloads 2 GB)"
	@echo "race     the packages that start goroutines, under the race detector"
	@echo "fuzz     every fuzz target for TRACEGEN_FUZZTIME each     ($(TRACEGEN_FUZZTIME))"
	@echo "corpus   the whole corpus of released jars, every mode   (an hour; downloads 1 GB)"
	@echo "mutants  a million mutants against JDK 17 and 25              (an hour)"
	@echo "golden   rewrite golden files; read the diff before committing it"
	@echo "bench    tracegen and other tools, into bench/runs      (20 minutes; downloads 300 MB)"
	@echo "check    format, vet, staticcheck, tidy, the rules of the repository, clean tree, govulncheck"
	@echo "runtime  the runtime's jars, which the program embeds     (needs JDK 17 and Maven)"
	@echo "screenshots  pictures of each view of the page, light, dark and narrow, in screenshots/"
	@echo "release  archives for each platform, SBOM and checksums, in dist/release; signed with KEY=FILE (minutes)"
	@echo "release-check  the same twice, in two directories, and a comparison byte by byte (10 minutes)"
	@echo "sample   rebuild testdata/sample/sample.jar from its sources"

build:
	$(GO) build -trimpath -o tracegen ./cmd/tracegen

deps:
	@.ci/deps

deps-nightly:
	@.ci/deps nightly

test: deps
	.ci/gotest -timeout 30m ./...

nightly: deps-nightly
	.ci/nightly $(SHARES)

art:
	@.ci/deps art
	.ci/nightly art-push

bare:
	TRACEGEN_BARE=new .ci/bare

# TRACEGEN_BUILDS_RUN is a pattern of tests. One package at a time: a build uses all processors.
builds: deps-nightly
	TRACEGEN_SHARE=all TRACEGEN_BUILDS=full .ci/gotest -p 1 -timeout 90m -run "$${TRACEGEN_BUILDS_RUN:-.}" ./internal/oracle/builds/...

race: deps
	.ci/race

fuzz:
	TRACEGEN_FUZZTIME=$(TRACEGEN_FUZZTIME) .ci/fuzz

corpus: deps-nightly
	TRACEGEN_SHARE=all TRACEGEN_CORPUS=full .ci/gotest -timeout 170m -run 'Corpus|Shapes' ./...

mutants: deps
	.ci/mutants

golden:
	TRACEGEN_SHARE=all $(GO) test $$(git grep -l --untracked -e 'flag.Bool("update"' -e 'golden\.Compare(' -- '*_test.go' | xargs -r -n1 dirname | sort -u | sed 's,^,./,') -update
	git status --short

bench: deps build
	$(GO) run ./bench

check:
	.ci/check

sample:
	testdata/sample/build

runtime:
	runtime-java/build

screenshots: deps
	mkdir -p screenshots
	TRACEGEN_PICTURES=$(CURDIR)/screenshots $(GO) test -count=1 -run 'Pictures?$$' ./internal/recording/export

release:
	rm -rf dist/release
	$(GO) -C release/archives run . --root $(CURDIR) -o $(CURDIR)/dist/release \
		$(if $(KEY),--key $(abspath $(KEY)))

release-check:
	release/reproduce

clean:
	rm -f tracegen
	$(GO) clean -testcache
