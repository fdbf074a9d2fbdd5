#!/bin/sh
# Runs the debate on each backend with real servers that this machine supports, or on those
# in BACKENDS, and renews results/<backend> and docs/evidence/agreement.md. Other backends keep
# their stored results. ROWS limits the run to some rows. If a row differs from the simulator
# without a known reason (differences in the row's file), the script fails, renews nothing, and says
# where the results are.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm
PATH=$work:$PATH

mkdir -p "$work/results/reference"
cp results/reference/debate.json "$work/results/reference/"
for backend in ${BACKENDS:-process container}; do
	code=0
	lockstorm run calm --backend $backend --out '' >"$work/said" 2>&1 || code=$?
	if test $code = 2; then # this machine lacks the backend
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
lockstorm agreement "$@" --format markdown >"$work/agreement.md" || {
	lockstorm agreement "$@" || true
	rm -rf runs/agreement
	mkdir -p runs
	cp -r "$work/results" runs/agreement
	echo "the results are in runs/agreement" >&2
	exit 1
}
for backend in process container; do
	test ! -d "$work/results/$backend" || { mkdir -p results/$backend && cp "$work/results/$backend/debate.json" results/$backend/; }
done
cp "$work/agreement.md" docs/evidence/agreement.md
