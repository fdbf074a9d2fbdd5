# make help lists the targets.

GO ?= go

.PHONY: help deps build test lint bench campaign clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

deps: ## install what the tests need: redis-server
	@sh scripts/deps.sh

build: ## build the command into ./lockstorm
	$(GO) build -o lockstorm ./cmd/lockstorm

test: deps ## run all tests, and those of concurrent code under the race detector
	$(GO) test -count=1 ./...
	$(GO) test -count=1 -race ./env ./redlock/... ./storm/... ./cluster/... ./cmd/...

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w these: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . ./...

campaign: deps ## what takes longer than a test may; its output is committed
	sh scripts/campaign.sh

clean: ## remove what was built
	rm -f lockstorm
