#!/bin/sh
# Runs the checks that take longer than tests may, and writes docs/evidence/campaign.md.
set -eu

out=$PWD/docs/evidence/campaign.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p docs
go build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm
PATH=$work:$PATH

# say DIR TITLE COMMAND…: writes a section with the command and its output. A failing
# command ends the campaign and is shown.
say() {
	dir=$1
	title=$2
	shift 2
	echo "== $title: $*" >&2
	{
		printf '\n## %s\n\n```\n$ %s\n' "$title" "$*"
		(cd "$dir" && "$@" 2>"$work/problems") || { # stderr has progress, too, which is not for the page
			tail -n 100 "$work/campaign.md" "$work/problems" >&2
			exit 1
		}
		printf '```\n'
	} >>"$work/campaign.md"
}

{
	echo "# Campaign"
	echo
	echo "Made by \`make campaign\` with $(go env GOVERSION) on $(nproc) cores, $(redis-server --version | sed 's/ sha=.*//')."
} >"$work/campaign.md"

# Real servers come first, because they need an idle machine. `make agreement` runs the
# whole debate on them.
# delayed-restart with the delay set to 0, and nothing expected of it.
lockstorm show delayed-restart | sed -e 's/after: 1.1s/after: 0s/' -e '/^expect:/,$d' >"$work/no-delay.yaml"

say "$work" "Crash and restart on real servers" lockstorm run crash-restart --backend process --runs 20
say "$work" "Delayed restart on real servers" lockstorm run delayed-restart --backend process --runs 10
say "$work" "The same without the delay" sh -c 'lockstorm run no-delay.yaml --backend process --runs 10; test $? = 1'

say . "The judge of exclusion against a sweep and porcupine, and against brute force, a million histories" \
	go test ./checker -run 'TestSweepAgreesWithPorcupine|TestOracleAgreesWithTheJudge' -count=1 -v -args -histories=1000000
say . "No key is left behind: a hundred thousand drawn plans" \
	go test ./internal/runner -run 'TestNoOrphans' -count=1 -v -args -plans=100000
say . "The laws about storms, five times as many as in the tests" \
	go test ./internal/runner -run 'TestQuarantineCloses|TestFences|Over|TestSessionsExclude|TestRowExcludes' -count=1 -args -times=5
say . "What every lock promises: twenty thousand runs each" \
	go test ./internal/fuzz -run 'TestPromisesHold|TestCrashRestartIsFound' -count=1 -timeout 0 -v -args -runs=20000
say . "An exploration leaves out nothing: a thousand random worlds, and planted defects" \
	go test ./internal/explore -count=1 -timeout 0 -v -args -worlds=1000 -planted
say "$work" "The debate, five hundred seeds a row" lockstorm debate --runs 500
say "$work" "The locks compared, two hundred seeds a trial" lockstorm compare --runs 200
say . "What a quarantine costs" go test ./internal/runner -run TestCostOfQuarantine -v -args -runs=1000
say . "Simulated cycles" go test ./internal/runner -run '^$' -bench . -count=3

mv "$work/campaign.md" "$out"
