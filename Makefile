# make help lists the targets.

GO ?= go

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(MAKEFILE_LIST))

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

# Adapters of locks that need no servers, and of OpenTelemetry, are modules beside the root. So are stores and
# evidence, whose libraries take minutes to compile: only .ci/nightly lints and tests all of them.
ADAPTERS = redlock/redlockotel locktest/redsynctest locktest/redislocktest locktest/rueidislocktest
MODULES = . $(ADAPTERS)
EACH = set -e; for module in

# FRESH=-count=1 also runs tests whose results are cached. -vet=off because lint vets the code. -pgo=off
# because with the command's profile everything would be compiled again. Live heaps are a megabyte or two,
# so GOGC=800 saves collections. Tests of programs and servers mostly wait, so more run than there are
# processors; the compiler gives way to them, because they repeat what a busy machine disturbs.
TEST = $(GO) test -vet=off -pgo=off -toolexec="nice -n 10" -timeout=30m -p=$$((2 * $$(getconf _NPROCESSORS_ONLN))) $(FRESH)

test race: export GOGC ?= 800
test: ## run the tests of the root and of the adapters; root gets missing packages installed (10 minutes from nothing; unchanged packages are cached)
	@sh scripts/deps.sh
	$(TEST) ./internal/cli ./locktest ./... # those two take longest, so they begin first
	@printf '%s\n' $(ADAPTERS) | xargs -P 2 -I module sh -c 'cd module && $(TEST) ./...'

race: ## test the lock, its transport and links to servers under the race detector (.ci/nightly: all that has goroutines)
	$(TEST) -race ./redlock/... ./internal/servers/wire ./internal/servers/live ./internal/servers/keywatch

TOOL = $(GO) tool -modfile=$(CURDIR)/tools/go.mod

lint: ## gofmt, go vet, staticcheck (MODULES="stores evidence": of these)
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w these: $$unformatted"; exit 1; fi
	$(EACH) $(MODULES); do (cd $$module && $(GO) vet -pgo=off ./... && $(TOOL) staticcheck ./...); done

bless: ## renew golden files, generated pages, output in README.md and docs, results/reference (2 minutes)
	$(GO) test -vet=off -pgo=off $$(grep -rlE --include='*_test.go' 'testkit\.(GoldenFile|WriteGolden|UpdateGolden)\(' --exclude-dir=stores --exclude-dir=evidence --exclude-dir=redlockotel . | xargs -n1 dirname | sort -u) -run 'Golden|IsCurrent|ShowsWhatIsPrinted' -args -update
	$(GO) -C redlock/redlockotel test -vet=off -pgo=off -run Golden -args -update

proof: ## check the proof of lease exclusion with Dafny (installs it as root)
	bash scripts/proof.sh

playground: ## build the playground into internal/playground/front/dist, and ./lockstorm with it (needs Node.js)
	@sh scripts/deps.sh npm
	sh scripts/playground.sh
	$(GO) build -pgo=off -o lockstorm ./cmd/lockstorm

pictures: ## renew the screenshots in docs/img
	@sh scripts/deps.sh chromium
	$(GO) test -tags browser ./internal/show/report -run '^TestPictures$$' -args -update

tidy: ## tidy go.mod and go.sum of all modules, after a change of dependencies
	$(EACH) $(MODULES) stores evidence; do (cd $$module && GOFLAGS=-mod=mod $(GO) mod tidy -e); done

cross: ## build and vet for macOS and Windows (8 minutes the first time)
	$(EACH) darwin windows; do CGO_ENABLED=0 GOOS=$$module $(GO) build -pgo=off -o /dev/null ./cmd/lockstorm && CGO_ENABLED=0 GOOS=$$module $(GO) vet -pgo=off ./...; done

bench: ## run the benchmarks
	$(GO) test -pgo=$(CURDIR)/cmd/lockstorm/default.pgo -run '^$$' -bench . ./...

pgo: ## renew the compiler's profile for the command
	$(GO) test -trimpath ./internal/runner -run '^$$' -bench 'Cycles|Worlds' -benchtime 3s -cpu 1 -outputdir $(CURDIR)/cmd/lockstorm -cpuprofile runner.pgo -o /dev/null
	$(GO) test -trimpath ./checker -run '^$$' -bench 'Checker/.*/operations=10000$$' -benchtime 2s -cpu 1 -outputdir $(CURDIR)/cmd/lockstorm -cpuprofile checker.pgo -o /dev/null
	cd cmd/lockstorm && $(GO) tool pprof -proto runner.pgo checker.pgo >default.pgo && rm runner.pgo checker.pgo

release: ## make all of a release but its images and the upload, in ./dist, and check it
	@sh scripts/deps.sh npm
	GOFLAGS=-pgo=off sh scripts/release-check.sh

weight: ## print how large the project is
	@sh scripts/weight.sh

clean: ## remove what was built
	rm -rf lockstorm dist release internal/playground/front/node_modules
