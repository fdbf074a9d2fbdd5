#!/bin/sh
# Measures what campaigns cost: a sweep as a campaign beside the same sweep in one process, and the engine by
# itself. Writes docs/evidence/campaign-cost.md. Fails if a campaign's files differ from those of the sweep.
set -eu

runs=${RUNS:-2000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm
PATH=$work:$PATH
page=$work/page.md

# clock COMMAND…: runs it, and sets seconds.
clock() {
	began=$(date +%s.%N)
	"$@" >"$work/said" 2>&1 || test $? = 1 || { cat "$work/said" >&2; exit 1; }
	seconds=$(echo "$(date +%s.%N) $began" | awk '{ printf "%.1f", $1 - $2 }')
}

# row NAME: a row of a table with the last time, beside that of one process.
row() {
	diff -r "$work/one" "$work/many" >&2
	rm -r "$work/many"
	echo "$1 $seconds $alone" | awk '{ printf "| %s | %s | %.2f |\n", $1, $2, $3 / $2 }' >>"$page"
	echo "$1: $seconds s" >&2
}

cat >"$page" <<END
# What campaigns cost

Made by \`make campaign-cost\` with $(go env GOVERSION) on $(nproc) cores. How [campaigns](../campaigns.md) work.

## A sweep, as a campaign and in one process

\`lockstorm sweep restart-delay --runs $runs\` uses all cores. \`lockstorm campaign start … sweep restart-delay --runs $runs\` stores the same files, byte for byte. *efficiency* is the time of the former, divided by that of the latter.

END
clock lockstorm sweep restart-delay --runs "$runs" --out "$work/one"
alone=$seconds
printf 'In one process: %s s.\n\n| workers | s | efficiency |\n|---:|---:|---:|\n' "$alone" >>"$page"
for workers in 1 2 4 8; do
	clock lockstorm campaign start --out "$work/many" --workers $workers sweep restart-delay --runs "$runs"
	row $workers
done
printf '\nWith 2 workers:\n\n| runs of a shard | s | efficiency |\n|---:|---:|---:|\n' >>"$page"
for size in 20 200 2000; do
	clock lockstorm campaign start --out "$work/many" --workers 2 --shard-runs $size sweep restart-delay --runs "$runs"
	row $size
done

go test ./internal/campaign -run TestFigures -count=1 -timeout 1h -args -figures="$work/figures" >&2
cat >>"$page" <<END

## The engine by itself

\`\`\`
\$ go test ./internal/campaign -run TestFigures -args -figures=FILE
\`\`\`

Servers are processes of their own, but for the first rows; workers are slots of one process; all share $(nproc) cores, so the servers have less than they would have alone. Shards that take their time sleep, so that many slots fit on this machine.

The model has two numbers, fitted to the first and the last row of a kind of servers: the time of the servers per shard, one shard at a time, and the delay of a slot per shard that no other slot lengthens. Between them it is mean value analysis of a closed queueing network (Reiser and Lavenberg, Journal of the ACM 27(2), 1980). *efficiency* is the share of their time in which slots make shards. Between its two ends the model is up to twice too high here: with a few slots the two cores are busy already, and a shard costs the servers less when many come together. So what is extrapolated is the rate of many slots, which was measured.
END
cat "$work/figures" >>"$page"
cat >>"$page" <<'END'

What breaks first is the rate at which the servers hand out and take back shards: then workers wait, and nothing is lost. Longer shards (`--shard-runs`) make it rare. Every slot of a worker asks the servers for itself, so machines with more cores are as more machines.
END
mv "$page" docs/evidence/campaign-cost.md
