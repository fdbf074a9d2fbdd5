# make help lists the targets.

GO ?= go

.PHONY: help deps build test lint bench pgo speed reference campaign clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

deps: ## install what the tests need: redis-server
	@sh scripts/deps.sh

build: ## build the command into ./lockstorm
	$(GO) build -o lockstorm ./cmd/lockstorm

# A simulated world is one thread, in which the race detector has nothing to find. What
# runs many worlds at a time is tried with it, and that they give the same traces;
# of the command all but what runs whole suites.
BATCHES = ^(TestInterrupted|TestVerdictFollowsTheCause|TestGoldenTraces)$$
SUITES = ^(TestDebateTable|TestDebateFromWhatWasSaved|TestDebateAgreesWithItsReference|TestComparisonAgreesWithItsReference|TestReadmeShowsWhatIsPrinted)$$

test: deps ## run all tests, and those of concurrent code under the race detector
	$(GO) test -count=1 ./...
	$(GO) test -count=1 -race ./env ./redlock/... ./locks/... ./cluster/...
	$(GO) test -count=1 -race -run '$(BATCHES)' ./storm
	$(GO) test -count=1 -race -skip '$(SUITES)' ./cmd/...

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w these: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

bench: ## run the benchmarks
	$(GO) test -pgo=$(CURDIR)/cmd/lockstorm/default.pgo -run '^$$' -bench . ./...

pgo: ## renew the profile by which the compiler optimises the command
	$(GO) test -trimpath ./storm -run '^$$' -bench 'Cycles|Worlds' -benchtime 3s -cpu 1 -cpuprofile cmd/lockstorm/default.pgo -o /dev/null

speed: ## measure the simulator; its output is committed
	sh scripts/speed.sh >docs/speed.md.new && mv docs/speed.md.new docs/speed.md

reference: ## run the debate and the comparison again; results/reference, docs and README are committed
	sh scripts/reference.sh

campaign: deps ## what takes longer than a test may; its output is committed
	sh scripts/campaign.sh

clean: ## remove what was built
	rm -f lockstorm
