#!/bin/sh
# Compares the speed of this checkout with that of an earlier commit: both are built, run by
# turns, and compared with benchstat. In its table, "vs base" is the time of this checkout
# beside that of the commit, with the probability that chance explains the difference.
#
#   sh scripts/faster.sh COMMIT [ROUNDS]
set -eu

base=$1
rounds=${2:-10}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null; rm -rf "$work"' EXIT
git worktree add -q --detach "$work/base" "$base"

# built DIRECTORY NAME: builds the benchmarks and the command of a checkout.
built() {
	for package in internal/runner results; do
		go -C "$1" test -c -pgo="$1/cmd/lockstorm/default.pgo" -o "$work/$2.$(basename "$package")" "./$package"
	done
	go -C "$1" build -o "$work/$2.lockstorm" ./cmd/lockstorm
}
built "$work/base" base
built "$PWD" new

# timed NAME COMMAND…: runs a command and prints its time as a benchmark does.
timed() {
	name=$1
	shift
	began=$(date +%s%N)
	"$@" >/dev/null
	echo "Benchmark$name 1 $(($(date +%s%N) - began)) ns/op"
}

round() {
	(cd internal/runner && "$work/$1.runner" -test.run '^$' -test.bench 'Cycles|Worlds' -test.cpu 1 -test.benchtime 0.5s)
	(cd internal/runner && "$work/$1.runner" -test.run '^$' -test.bench Batch -test.benchtime 0.5s)
	(cd results && "$work/$1.results" -test.run '^$' -test.bench Judge -test.benchtime 1s)
	timed Debate "$work/$1.lockstorm" debate
}

for i in $(seq "$rounds"); do
	for one in base new; do
		echo "round $i of $rounds: $one" >&2
		round $one >>"$work/$one.txt"
	done
done
go tool -modfile=tools/go.mod benchstat -ignore pkg -filter '.unit:(sec/op OR allocs/op)' base="$work/base.txt" new="$work/new.txt"
