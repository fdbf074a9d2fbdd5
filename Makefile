# make help lists the targets.

GO ?= go

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(MAKEFILE_LIST))

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

deps: ## install what the tests need: redis-server, libfaketime
	@sh scripts/deps.sh

browser: ## install these and Chromium, for tests of pages (skipped without it)
	@sh scripts/deps.sh chromium

npm:
	@sh scripts/deps.sh npm

build: ## build the command into ./lockstorm
	$(GO) build -o lockstorm ./cmd/lockstorm

front: npm
	sh scripts/playground.sh

playground: front ## build the playground into internal/playground/front/dist, static files for any host, and ./lockstorm with it for "lockstorm serve"
	$(GO) build -tags playground -o lockstorm ./cmd/lockstorm

# Packages with goroutines are tested under the race detector, and not a second time without
# it. A simulated world is one thread, so of the packages that run many worlds at a time only
# the tests that do so are raced. Building the whole command for the race detector is expensive:
# make test-race does it.
CONCURRENT = ./internal/program ./internal/servers/... ./redlock/... ./env ./history ./internal/rivals/...
RACED = $$($(GO) list $(CONCURRENT) | grep -v '/internal/servers/container$$' | grep -v '/internal/servers/stores')
BATCHES = ^(TestInterrupted|TestRunsOfAnExperimentAreIndependent|TestHuntDoesNotDependOnTheNumberOfCores|TestHuntEndsWithItsContext|TestOutcomeIsThatOfEveryRun|TestStoppedExploration|TestEstimatesAreRepeated|TestAnalysisIsBoundedAndStops)$$
EXACT = ^TestGoldenTraces$$
FOREIGN = ^(TestWhatNoLockMayIsTold|TestDefectsAreFound|TestLossIsToldInTime)$$

# The tests of the command with goroutines: real servers, clients as processes, signals, progress
# on a terminal, a hunt on all cores.
OWN = ^Test(OnATerminal|CtrlCOnATerminal|Interrupt.*|.*OnRealServers|ClientsAsProcesses.*|.*Program.*|RowOnServersOfTheUsersOwn|HuntIsRepeatable|CIIsStopped|StoppedHuntShrinks)$$

# These tests need a Docker engine.
CONTAINERS = ^TestContainer
CONTAINED = ./internal/servers/container ./internal/contract ./internal/cli

# These tests need etcd, NATS, PostgreSQL and ZooKeeper, or the clients of these, which take minutes to
# compile. In other packages than STORES they are recognized by their names.
STORES = internal/servers/stores locktest/etcdtest locktest/natstest locktest/postgrestest locktest/zookeepertest
STORED = ^TestRealStore

# Modules of their own: adapters of locks that people use. Those in ADAPTERS are tested on nodes in
# memory, the others on real servers. client-go has 500 packages, which take minutes to compile, so
# its adapter is only built where real servers are tested.
ADAPTERS = locktest/redsynctest locktest/redislocktest locktest/rueidislocktest
STORE_ADAPTERS = locktest/etcdlocktest locktest/zookeeperlocktest locktest/sqllocktest
KUBERNETES_ADAPTERS = locktest/leaderelectiontest
EACH = set -e; for module in

# These tests look at the built playground and site.
PLAYED = ^Test(Playground|Site)

# These tests need Slurm.
SCHEDULED = ^TestSlurm

# FRESH=-count=1 also runs tests whose results are cached. -vet=off because lint vets the code.
# -pgo=off because with the command's profile everything would be compiled again, 1,700 packages
# with the race detector. Live heaps are a megabyte or two, so GOGC=800 saves collections.
# The command's tests take six minutes alone on two cores, so on a busy machine go test's ten are too few.
TEST = $(GO) test -vet=off -pgo=off -timeout=30m $(FRESH)

# Plain and raced tests run side by side, because each alone leaves a core idle while it links or
# waits for a server.
test: export GOGC ?= 800
test: browser ## run all tests, packages with goroutines under the race detector (7 minutes; unchanged packages are cached)
	$(MAKE) --no-print-directory -j2 test-plain test-raced
	@sh scripts/browser.sh >/dev/null || echo "not run: tests of pages in a browser, which need Chromium (make browser)"
	@echo "not run: tests on containers, which need a Docker engine (make test-container)"
	@echo "not run: tests on etcd, NATS, PostgreSQL and ZooKeeper (make test-stores)"
	@echo "not run: locks in Python and JavaScript (make test-languages)"
	@echo "not run: tests of the playground and the site (make test-playground test-site)"
	@echo "not run: tests on Slurm (make test-slurm), and on Kubernetes (make test-kubernetes)"

test-plain:
	$(TEST) -skip '$(BATCHES)|$(CONTAINERS)|$(STORED)|$(SCHEDULED)|$(PLAYED)' $$($(GO) list ./... | grep -vxF "$(RACED)" | grep -v $(STORES:%=-e /%))

test-raced:
	$(TEST) -race -skip '$(CONTAINERS)' $(RACED)
	$(TEST) -race -run '$(BATCHES)|$(EXACT)' ./internal/runner ./internal/fuzz ./internal/explore ./internal/rare ./internal/inevitable
	$(TEST) -race -run '$(FOREIGN)' ./locktest
	cd bench && $(TEST) ./...
	$(EACH) $(ADAPTERS); do (cd $$module && $(TEST) ./...); done

test-race: deps ## run the command's concurrent tests and campaigns under the race detector (4 minutes, half of it building)
	$(TEST) -race -run '$(OWN)' ./internal/cli
	$(TEST) -race ./internal/campaign/...

test-container: deps ## run the tests on Redis in containers (4 minutes); without a Docker engine, root starts one for them
	$(TEST) -race -run '^$$' $(CONTAINED)
	sh scripts/engine.sh $(TEST) -race -p 1 -run '$(CONTAINERS)' $(CONTAINED)

test-playground: browser front ## build the playground, and run its tests in a browser (2 minutes)
	$(TEST) -run '$(PLAYED)' ./internal/playground/front
	$(GO) vet -tags playground ./internal/playground/front

site: front ## build the site, with the playground in it, into site/dist, and check its links (SITE_BASE=/: for a host of its own)
	sh scripts/site.sh
	$(TEST) -run '^TestSiteLinks$$' ./site

test-site: browser site ## build the site, and run its tests in a browser (a minute)
	$(TEST) ./site

etcd: ## build the current etcd from the module proxy into ./etcd, for --etcd (a minute)
	$(GO) build -modfile=tools/etcd/go.mod -o etcd go.etcd.io/etcd/server/v3

kube-apiserver: ## build the API server of Kubernetes from the module proxy into ./kube-apiserver (5 minutes)
	$(GO) build -modfile=tools/kubernetes/go.mod -o kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver

test-kubernetes: etcd kube-apiserver ## have an API server of Kubernetes, which it builds, check the manifests of campaigns (a minute, the first time 6)
	$(GO) -C bench test ./manifests -count=1 -v -run '^TestServer' -args -apiserver $(CURDIR)/kube-apiserver -etcd $(CURDIR)/etcd

test-stores: ## run the tests on etcd, NATS, PostgreSQL and ZooKeeper, which it installs (7 minutes)
	@sh scripts/deps.sh stores
	$(TEST) -race $(STORES:%=./%/...)
	$(TEST) -race -run '$(STORED)' ./internal/contract
	$(EACH) $(STORE_ADAPTERS); do (cd $$module && $(TEST) -race ./...); done
	$(EACH) $(KUBERNETES_ADAPTERS); do (cd $$module && $(TEST) ./...); done

languages:
	@sh scripts/deps.sh languages
	npm ci --prefix examples/node --no-audit --no-fund

test-languages: languages ## run the examples in Python and JavaScript on real servers, which it installs (4 minutes)
	$(GO) -C bench test $(FRESH) ./languages -timeout 30m -run '^TestFindings$$' -args -languages

test-slurm: deps ## run the tests on Slurm (a minute); root starts it for them
	$(TEST) -run '^$$' ./internal/cli
	sh scripts/slurm.sh $(TEST) -v -run '$(SCHEDULED)' ./internal/cli

stores: ## run the locks in a store on real servers, and compare them with the simulated store (20 minutes, RUNS=1: 10, on an idle machine); commit results and docs/evidence/stores.md
	@sh scripts/deps.sh stores
	sh scripts/stores.sh

published: ## repeat published results on real servers and in the simulator (13 minutes, on an idle machine); commit docs/evidence/published.md
	@sh scripts/deps.sh stores
	$(GO) run -buildvcs=false ./cmd/lockstorm published --format markdown >docs/evidence/published.md.new && mv docs/evidence/published.md.new docs/evidence/published.md

PRICED = redlock,redlock-fenced,single-node,failover,database-row,database-row-asynchronous,advisory,expiring-key,redis-sentinel,redis-cluster,kubernetes-lease,zookeeper,etcd
price: ## measure what locks cost on real servers (14 minutes, RUNS=1: 8, on an idle machine); commit docs/evidence/price.md
	@sh scripts/deps.sh stores
	$(GO) run -buildvcs=false ./cmd/lockstorm price --runs $(or $(RUNS),2) --locks $(PRICED) --format markdown >docs/evidence/price.md.new && mv docs/evidence/price.md.new docs/evidence/price.md

FLAKE_RUNS ?= 30
FLAKE_BUDGET ?= 0
FLAKE_ABREAST ?= 2
flake: export GOGC ?= 800
flake: deps ## run all tests FLAKE_RUNS times (30) under each stress, or for FLAKE_BUDGET (45m); continues where it was stopped (PACKAGES='./internal/rivals ./internal/servers/...': only those); commit docs/evidence/flake.md
	@sh scripts/deps.sh stores
	$(GO) run -pgo=off ./internal/flake -page docs/evidence/flake.md -runs $(FLAKE_RUNS) -budget $(FLAKE_BUDGET) -abreast $(FLAKE_ABREAST) -skip '$(CONTAINERS)|$(STORED)|$(SCHEDULED)|$(PLAYED)' \
		-raced '$(CONCURRENT) ./internal/flake' -race-only '$(BATCHES)|$(EXACT)|$(FOREIGN)|$(OWN)' $(PACKAGES)

# The packages whose tests have golden files, and so the flag -update. The command's are renewed by
# themselves, because only few of its tests have one.
GOLDEN = $$(grep -rlE --include='*_test.go' 'testkit\.(GoldenFile|WriteGolden)\(' . | xargs -n1 dirname | sort -u | grep -vxF ./internal/cli)

bless: ## renew golden files: testdata, pages generated from types, command output in README.md and docs (half a minute)
	$(GO) test $(GOLDEN) -run 'Golden|IsCurrent' -args -update
	$(GO) test ./internal/cli -run 'ShowsWhatIsPrinted$$|IsCurrent$$' -args -update

pictures: browser front ## renew the screenshots in docs/img
	$(GO) test ./internal/report -run '^TestPictures$$' -args -update
	$(GO) test ./internal/playground/front -run '^TestPlaygroundPictures$$' -args -update

TOOLS = $(GO) tool -modfile=tools/go.mod
TOOL_HERE = $(GO) tool -modfile=$(CURDIR)/tools/go.mod

lint: ## gofmt, go vet, staticcheck (half a minute)
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w these: $$unformatted"; exit 1; fi
	$(GO) vet -pgo=off ./...
	$(TOOLS) staticcheck ./...
	$(EACH) bench $(ADAPTERS) $(STORE_ADAPTERS); do (cd $$module && $(GO) vet ./... && $(TOOL_HERE) staticcheck ./...); done

# golangci-lint has the analyses of go vet and staticcheck, and gofmt.
lint-all: ## golangci-lint by .golangci.yml, and actionlint of the workflows (a minute; the first time 5, to build them)
	$(TOOLS) golangci-lint run ./...
	$(GO) tool -modfile=tools/actionlint/go.mod actionlint
	$(EACH) bench $(ADAPTERS) $(STORE_ADAPTERS) $(KUBERNETES_ADAPTERS); do (cd $$module && $(TOOL_HERE) golangci-lint run ./...); done

tidy: ## tidy go.mod and go.sum of all modules, after a change of dependencies
	$(GO) mod tidy
	cd bench && GOFLAGS=-mod=mod $(GO) mod tidy -e
	$(EACH) $(ADAPTERS) $(STORE_ADAPTERS) $(KUBERNETES_ADAPTERS); do (cd $$module && GOFLAGS=-mod=mod $(GO) mod tidy); done

test-simulated: ## run the tests that need no servers, as ci does on macOS and Windows
	$(TEST) $$(sh scripts/simulated.sh)
	$(TEST) -tags parquet ./internal/sweep/plots

# The same packages are compiled for both: on amd64 and arm64 they differ in nothing that vet sees.
cross: ## build the command for macOS and Windows, and vet all packages and tests for them (8 minutes the first time)
	for os in darwin windows; do for arch in amd64 arm64; do CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -pgo=off -o /dev/null ./cmd/lockstorm || exit; done; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=arm64 $(GO) vet -pgo=off ./... || exit; done

api-check: ## compare the public Go packages with the last tagged version
	sh scripts/api-check.sh

test-images: ## build the release's image for real servers on a base of Debian's packages, and run it (as root)
	sh scripts/servers-image.sh

release-check: export GOFLAGS += -pgo=off
release-check: npm ## check .goreleaser.yaml, and make all but the images and the upload of a release in ./dist
	sh scripts/release-check.sh

bench: ## run the benchmarks
	$(GO) test -pgo=$(CURDIR)/cmd/lockstorm/default.pgo -run '^$$' -bench . ./...

bench-locks: deps ## measure this lock beside others on the same servers (11 minutes, on an idle machine); commit docs/evidence/bench.md and README.md
	sh scripts/bench-locks.sh

scoreboard: deps ## run redsync, redislock, rueidislock and this lock in the same storms (7 minutes); commit docs/evidence/scoreboard.md and bench/locks/testdata
	$(GO) -C bench test ./locks -count=1 -timeout 2h -v -run '^TestScoreboard$$' -args -write

scoreboard-stores: ## run locks of Go libraries in etcd, ZooKeeper and PostgreSQL in storms (15 minutes); commit docs/evidence/scoreboard-stores.md and bench/locks/testdata
	@sh scripts/deps.sh stores
	$(GO) -C bench test -tags kubernetes ./locks -count=1 -timeout 2h -v -run '^TestScoreboard$$' -args -write -stores -runs 2 -again 1

scoreboard-languages: languages ## run locks of Python and npm in storms (6 minutes); commit docs/evidence/scoreboard-languages.md and bench/languages/testdata
	$(GO) -C bench test ./languages -count=1 -timeout 2h -v -run '^TestScoreboard$$' -args -write

pgo: ## renew the compiler's profile for the command
	$(GO) test -trimpath ./internal/runner -run '^$$' -bench 'Cycles|Worlds' -benchtime 3s -cpu 1 -outputdir $(CURDIR)/cmd/lockstorm -cpuprofile runner.pgo -o /dev/null
	$(GO) test -trimpath ./checker -run '^$$' -bench 'Lease|All' -benchtime 2s -cpu 1 -outputdir $(CURDIR)/cmd/lockstorm -cpuprofile checker.pgo -o /dev/null
	cd cmd/lockstorm && $(GO) tool pprof -proto runner.pgo checker.pgo >default.pgo && rm runner.pgo checker.pgo

speed: speed-checker ## measure the simulator and the checker (15 minutes); commit docs/evidence/speed.md and checker-speed.md
	sh scripts/speed.sh simulator >docs/evidence/speed.md.new && mv docs/evidence/speed.md.new docs/evidence/speed.md

speed-checker: ## measure only the checker (3 minutes, 6 GB)
	sh scripts/speed.sh checker >docs/evidence/checker-speed.md.new && mv docs/evidence/checker-speed.md.new docs/evidence/checker-speed.md

reference: ## run the debate and the comparison again (a minute); commit results/reference, docs/evidence and README.md
	sh scripts/reference.sh

measurements: deps ## measure all sweeps (half an hour; continues where it was stopped); commit results and docs/evidence/measurements.md
	sh scripts/measurements.sh

agreement: deps ## run the debate on real servers (process 2 minutes, container 30, on an idle machine; BACKENDS=container: only containers; ROWS=calm: only that row); commit results and docs/evidence/agreement.md
	sh scripts/agreement.sh

hunt: ## hunt the debate's violations without its plans, fifty times per row (9 minutes); commit docs/evidence/hunt.md
	sh scripts/hunt.sh

explore: ## make every run of the debate's rows and of the compared locks, and of planted defects, within bounds (40 minutes); commit docs/evidence/explore.md
	sh scripts/explore.sh

rare: ## compare estimates of rare violations with the truth (an hour); commit docs/evidence/rare.md
	sh scripts/rare.sh

storms: ## run campaigns while their servers and workers have faults (25 minutes); commit docs/evidence/storms.md
	sh scripts/storms.sh

campaign-cost: ## measure what campaigns cost (15 minutes, on an idle machine); commit docs/evidence/campaign-cost.md
	sh scripts/campaigncost.sh

playground-figures: browser front ## measure the playground (3 minutes, on an idle machine); commit docs/evidence/playground.md
	$(GO) test ./internal/playground/front -run '^TestPlaygroundFigures$$' -count=1 -args -figures=$(CURDIR)/docs/evidence/playground.md

first-minute: ## measure building from empty caches and the time to the first row (5 minutes, on an idle machine); commit docs/evidence/first-minute.md
	sh scripts/firstminute.sh

mutants: ## plant all defects and hunt them (10 minutes); commit docs/evidence/mutants.md
	sh scripts/mutants.sh

campaign: deps ## run the checks that take longer than tests may; commit docs/evidence/campaign.md, hunt.md and mutants.md
	sh scripts/campaign.sh
	sh scripts/mutants.sh 1000000

paper: ## recompute the figures that README.md and docs claim, with a tenth of the runs, and compare (half an hour; continues where it was stopped; NAMES="debate drift": only these claims); commit docs/evidence/paper.md
	$(GO) run ./internal/paper -page docs/evidence/paper.md $(NAMES)

clean: ## remove what was built
	rm -rf lockstorm etcd kube-apiserver dist release
