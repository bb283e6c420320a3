# Everything a person runs. `make` alone tells what there is.
GO ?= go

.PHONY: help dsh test check soak screenshots generate setup js

help:
	@echo "make dsh          install the DeepSeek Harness at the pinned version, add the plugin, start it, print its address"
	@echo "make test         install what the tests need and run all of them (the real DSH and a real Chromium included)"
	@echo "make check        the quick inner loop: format, vet, staticcheck, type check, unit tests"
	@echo "make soak         the long crash and send runs in full"
	@echo "make screenshots  make the pictures of docs/images again"
	@echo "make generate     make the gRPC code from its proto file again"

dsh:
	@$(GO) run ./smoketest/rundsh

setup:
	@$(GO) run ./smoketest/setup

# The JavaScript half: types and unit tests. Node comes from the tool chain that
# the tests use, so a machine whose Node is too old works as well.
js:
	@$(GO) run ./smoketest/rundsh -js-check

check: js
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt would change: $$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test -race -short $$($(GO) list ./... | grep -v /smoketest)

test: setup check
	$(GO) test -race $$($(GO) list ./... | grep -v /smoketest)
	$(GO) test -v -timeout 30m ./smoketest/...

soak: setup
	DRAFT_SESSIONS_SOAK=1 $(GO) test -v -timeout 6h ./...

screenshots: setup
	$(GO) run ./smoketest/screenshots

generate:
	$(GO) generate ./shared/proto/...
