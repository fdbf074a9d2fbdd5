#!/bin/sh
# Runs the locks in a store through the trials of the comparison on real servers of that
# store, and renews results/stores and docs/evidence/stores.md. If a lock does not behave as
# in the simulated store, and no reason for that is known (scenarios.ComparisonDifferences),
# the script fails and renews nothing. RUNS is the number of runs in each trial.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/lockstorm" ./cmd/lockstorm
PATH=$work:$PATH

locks=database-row,database-row-asynchronous,advisory,advisory-checked,advisory-transaction,expiring-key,redis-sentinel,redis-cluster,kubernetes-lease,kubernetes-lease-fenced,zookeeper,zookeeper-fenced,etcd,etcd-unchecked,fenced
mkdir "$work/stores"
lockstorm compare --locks $locks --backend process --runs "${RUNS:-2}" --save "$work/stores" >"$work/said" || test $? != 2 || { cat "$work/said"; exit 2; }
grep '^cannot be run' "$work/said" >&2 || true
lockstorm compare --from "$work/stores" --beside results/reference --format markdown >"$work/stores.md" || {
	cat "$work/stores.md"
	exit 1
}
mkdir -p results/stores
cp "$work/stores/compare.json" results/stores/
cp "$work/stores.md" docs/evidence/stores.md
