#!/bin/sh
# Runs the locks in a store through the trials of the comparison on real servers of that
# store, and renews results/stores and docs/evidence/stores.md. If a lock does not behave as
# in the simulated store, and no reason for that is known (scenarios.ComparisonDifferences),
# the script fails, renews nothing, and says where the results are: with FROM set to that directory it
# takes them instead of running anything. RUNS is the number of runs in each trial.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go -C stores build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm
PATH=$work:$PATH

locks=database-row,database-row-asynchronous,advisory,advisory-checked,advisory-transaction,redis-sentinel,redis-cluster,kubernetes-lease,kubernetes-lease-fenced,zookeeper,zookeeper-fenced,etcd,etcd-unchecked,fenced
stores=${FROM:-}
if test -z "$stores"; then
	stores=$(mktemp -d)
	lockstorm compare --locks $locks --backend process --runs "${RUNS:-2}" --save "$stores" >"$work/said" || test $? != 2 || { cat "$work/said"; exit 2; }
	grep '^cannot be run' "$work/said" >&2 || true
fi
lockstorm compare --from "$stores" --beside results/reference --format markdown >"$work/stores.md" || {
	cat "$work/stores.md"
	echo "the results are in $stores" >&2
	exit 1
}
mkdir -p results/stores
cp "$stores/compare.json" results/stores/
cp "$work/stores.md" docs/evidence/stores.md
test -n "${FROM:-}" || rm -rf "$stores"
