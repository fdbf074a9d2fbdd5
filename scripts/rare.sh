#!/bin/sh
# Compares estimates of rare violations with the truth, and writes docs/evidence/rare.md.
set -eu

# Live heaps are a megabyte or two: with fewer collections it takes half as long.
export GOGC="${GOGC:-800}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command="go test ./internal/rare -run TestCoverage -timeout 5h -args -coverage=${1:-100}"
$command -table="$work/table" >&2

{
	cat <<END
# Estimates of rare violations, and the truth

Made by \`make rare\` with $(go env GOVERSION) on $(nproc) cores:

\`\`\`
\$ $command -table=FILE
\`\`\`

Each world has a formula for the probability that a run violates lease exclusion: c is chosen for the true probability, and w is 20 ms. *covered* is the number of estimates whose 95 % interval covers the truth; the law is nine in ten. The relative error is half of the interval's width, on the average. *plain runs for the same* is how many plain runs give an interval as narrow, and *factor* how many times as many these are. An estimate here has populations of 33 runs for each power of ten, 8 moves and 10 repetitions; [the command's](../rare.md) are larger.

END
	cat "$work/table"
} >docs/evidence/rare.md
