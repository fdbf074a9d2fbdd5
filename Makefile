# make help lists the targets.

GO ?= go

.PHONY: help deps build test lint bench pgo speed reference campaign clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

deps: ## install what the tests need: redis-server
	@sh scripts/deps.sh

build: ## build the command into ./lockstorm
	$(GO) build -o lockstorm ./cmd/lockstorm

# Long laws of the simulator, whose world is one thread: the race detector has
# nothing to find in them.
ONE_THREAD = ^(TestMemoryIsFlat|TestLateFaultLeavesThePastAlone|TestEveryStormCanBeRepeated|TestSameSeedSameTrace|TestReplayIsTheSameRun|TestQuarantineClosesRestarts|TestCostOfQuarantine|TestFencesGrowWhileNothingIsForgotten|TestFencesProtectWhereTheLockDoesNot|TestFencesRepeatAfterALoss|TestWatchdogOverBadNetworks|TestSequentialOverBadNetworks|TestNoOrphansInOrder|TestNoOrphansOutOfOrder|TestDeadlockFreedomInStorms|TestSeriesShowWhatTheyExpect|TestDriftFollowsItsFormula|TestRestartDelaysFollowTheirFormulas|TestAnOracleExcludesInEveryRow|TestAFencedResourceIsSafeInEveryRow|TestEveryRowFindsABrokenLock|TestDebateAgreesWithItsReference|TestComparisonAgreesWithItsReference)$$

test: deps ## run all tests, and those of concurrent code under the race detector
	$(GO) test -count=1 ./...
	$(GO) test -count=1 -race -skip '$(ONE_THREAD)' ./env ./redlock/... ./storm/... ./cluster/... ./cmd/...

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
