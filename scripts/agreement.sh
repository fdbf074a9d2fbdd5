#!/bin/sh
# Runs the debate on real servers, of each kind that this machine can run or those that
# BACKENDS names, and renews results/<backend> and docs/evidence/agreement.md: of the others what was
# found before counts. ROWS names rows that alone are run again. A difference to the simulator of which no reason
# is known (scenarios/differences.go) ends it, and nothing is renewed.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/lockstorm" ./cmd/lockstorm
PATH=$work:$PATH

mkdir -p "$work/results/reference"
cp results/reference/debate.json "$work/results/reference/"
for backend in ${BACKENDS:-process container}; do
	code=0
	lockstorm run calm --backend $backend --out '' >"$work/said" 2>&1 || code=$?
	if test $code = 2; then # there is no such backend here, and it says why
		echo "not run on $backend: $(cat "$work/said")" >&2
		continue
	fi
	echo "the debate on $backend" >&2
	mkdir -p "$work/results/$backend"
	test -z "${ROWS:-}" || cp results/$backend/debate.json "$work/results/$backend/"
	# shellcheck disable=SC2086 # rows are words
	lockstorm debate ${ROWS:-} --backend $backend --save "$work/results/$backend" >"$work/said" || test $? != 2 || exit 2
done

set -- "$work/results/reference"
for backend in process container; do
	for results in "$work/results/$backend" "results/$backend"; do
		test ! -f "$results/debate.json" || { set -- "$@" "$results" && break; }
	done
done
lockstorm agreement "$@" --format markdown >"$work/agreement.md" || { lockstorm agreement "$@"; exit 1; }
for backend in process container; do
	test ! -d "$work/results/$backend" || { mkdir -p results/$backend && cp "$work/results/$backend/debate.json" results/$backend/; }
done
cp "$work/agreement.md" docs/evidence/agreement.md
