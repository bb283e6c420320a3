# Everything a person runs. `make` alone tells what there is.
GO ?= go

.PHONY: help security gosec govulncheck qualify run dsh package install test check lint e2e fuzz bench soak screenshots generate setup

help:
	@echo "make run          start the standalone host with its page, print a link to it (needs Go only)"
	@echo "make dsh          (PORT=n) install the DeepSeek Harness at the pinned version, add the plugin, start it, print its address"
	@echo "make test         install what the tests need and run all of them (the real DSH and a real Chromium included)"
	@echo "make package      build the release's npm packages into build/packages (PLATFORMS=here for this machine only)"
	@echo "make install      (DSH=folder) build the release for this machine and install it into your own DSH (DSH_HOME, or ~/.dsh)"
	@echo "make check        the quick inner loop: format, vet, staticcheck, type check, unit tests"
	@echo "make security     gosec over the code, and govulncheck over it and what it imports"
	@echo "make soak         the long crash, send and fuzz runs in full"
	@echo "make qualify      DSH=<folder of an installation> or VERSION=<release>: test another DSH, say what to change in compatibility.json"
	@echo "make bench        measure, in turns with bare baselines (docs/performance.md)"
	@echo "make screenshots  make the pictures of docs/images again"
	@echo "make generate     make the gRPC code from its proto file again"

run:
	@exec $(GO) run ./cmd/draft-sessions up

dsh:
	@$(GO) build -o build/rundsh ./smoketest/rundsh
	@exec build/rundsh $(if $(PORT),-port $(PORT))

package:
	@$(GO) run ./host/dsh/mkpackages $(PLATFORMS)

install:
	@$(GO) run ./host/dsh/mkpackages here
	@$(GO) build -o build/draft-sessions ./cmd/draft-sessions
	@build/draft-sessions install --from build/packages $(if $(DSH),--dsh $(DSH))

setup:
	@$(GO) run ./smoketest/setup

# Packages without a real DSH: quick, and run with the race detector. Tests that
# build the plugin and start it are never taken from the test cache (-count=1): Go
# does not see that what they start has changed.
unit = $$($(GO) list ./... | grep -v -e /smoketest -e '/host/dsh$$')

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt would change: $$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# The tools are run at these versions and are none of the module's own: as such they
# would raise its dependencies.
GOSEC = github.com/securego/gosec/v2/cmd/gosec@v2.30.0
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
VULNDB = golang.org/x/vulndb

# G304 and G204: to read the files and start the programs that a person names is what
# an installer, a terminal command and a host of agents are for; file parameters of the
# HTTP API have tests. host/dsh makes and installs npm packages, whose files everybody
# may read. What is left out otherwise is tests and their tools.
gosec:
	$(GO) run $(GOSEC) -quiet -exclude=G304,G204 -exclude-generated \
		-exclude-dir=smoketest -exclude-dir=testdata -exclude-dir=internal/leaks -exclude-dir=shared/proto/internal \
		-exclude-rules='host/dsh/.*:G122,G301,G302,G306,G703' ./...

security: gosec govulncheck

# With the Go release that go.mod names: the standard library is looked at as well. Where
# the database cannot be reached, it is made of the module that it is published from.
govulncheck:
	@mkdir -p build
	@export GOTOOLCHAIN=$$(sed -n 's/^toolchain //p' go.mod); \
	$(GO) run $(GOVULNCHECK) ./... >build/govulncheck.log 2>&1 && { tail -3 build/govulncheck.log; exit 0; }; \
	grep -q 'fetching vulnerabilities' build/govulncheck.log || { cat build/govulncheck.log; exit 1; }; \
	module=$$($(GO) mod download -json $(VULNDB)@latest) || { echo "the database of vulnerabilities cannot be had: $$module"; exit 1; }; \
	version=$$(echo "$$module" | sed -n 's/.*"Version": "\(.*\)",/\1/p'); folder=$$(echo "$$module" | sed -n 's/.*"Dir": "\(.*\)",/\1/p'); \
	rm -rf build/vulndb && $(GO) run $(VULNDB)/cmd/indexdb@$$version -vulns "$$folder/data/osv" -out build/vulndb && \
	echo "the database of vulnerabilities is that of $(VULNDB) $$version" && \
	$(GO) run $(GOVULNCHECK) -db "file://$$PWD/build/vulndb" ./...

check: lint
	$(GO) test -race -short -count=1 $(unit)
	$(GO) test -count=1 ./host/dsh ./smoketest/standalone -run TestJavaScript

test: setup lint gosec
	$(GO) test -race -count=1 $(unit)
	$(MAKE) --no-print-directory fuzz FUZZTIME=20s
	$(GO) test -race -v -count=1 -timeout 20m ./host/dsh
	$(MAKE) --no-print-directory e2e

# Tests with a real browser share two cores with it and with a real host. One to
# three that fail are run once more, each alone, and are named at the end and in
# build/again.txt: what fails again, or with more than three, fails. No test with the
# race detector is ever run again.
e2e: setup
	@mkdir -p build
	@rm -f build/again.txt
	$(GO) tool gotestsum --format standard-verbose --rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-report build/again.txt \
		--packages ./smoketest/... -- -p 1 -count=1 -timeout 40m
	@if [ -s build/again.txt ]; then echo "failed at first, and passed alone (a defect of the test or of the product):"; cat build/again.txt; fi

FUZZTIME ?= 10m
# The Go tool itself now and then reports the end of its time, and nothing else, as
# "context deadline exceeded": a finding names its input, or tells of a crash.
fuzz:
	@mkdir -p build
	@for target in FuzzDecode FuzzMigrateV1; do \
		log=build/$$target.log; \
		if $(GO) test -run xxx -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x ./shared >$$log 2>&1; then cat $$log; continue; fi; \
		cat $$log; \
		grep -qx ' *context deadline exceeded' $$log && ! grep -q 'Failing input\|panic\|_test.go\|exit status [2-9]\|build failed' $$log || exit 1; \
		echo "$$target: its time was over"; \
	done

soak: setup fuzz
	DRAFT_SESSIONS_SOAK=1 $(GO) test -v -count=1 -timeout 6h ./...

qualify: setup
	$(GO) run ./smoketest/qualify $(if $(DSH),-dsh $(DSH)) $(if $(VERSION),-version $(VERSION)) $(if $(RUN),-run '$(RUN)')

bench:
	$(GO) test -run xxx -bench Bars -benchtime 1x ./plugin/drafts
	$(GO) test -run xxx -bench Start -benchtime 15x ./host
	$(GO) test -run xxx -bench Page -benchtime 10x ./smoketest/standalone
	$(GO) test -run xxx -bench List -benchtime 1x ./cmd/draft-sessions

screenshots: setup
	$(GO) run ./smoketest/screenshots

generate:
	$(GO) generate ./shared/proto/...
