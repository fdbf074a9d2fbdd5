#!/bin/sh
# Plants each defect, hunts it, and writes docs/evidence/mutants.md. With a number N it also
# hunts the lock without a defect, for N runs. The page lists defects that were missed, too.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm
"$work/lockstorm" mutants --markdown --control "${1:-0}" >"$work/table" || test $? = 1

{
	cat <<END
# What the hunt finds

Made by \`make mutants\` (also part of \`make campaign\`) with $(go env GOVERSION) on $(nproc) cores.

Each row but the first two is a defect that a real lock library had. \`go build -overlay\` plants it into the lock's source ([the diffs](../../internal/mutants/planted)). A hunt of at most half a minute generates clients, times, worlds and faults, without knowing the defect. A mutant counts as caught if a promised property is violated while all assumptions of the promise hold. *should break* lists the properties that the catalogue of defects names for it, *found* the violated ones. *runs* and *seconds* are the runs and the time until the first violation, on all cores; *build* is the build time in seconds, not included. Number 0 is the lock without a defect, with a fixed number of runs: anything found there is a false alarm, or a defect of the lock. The codes are those of the [properties](../../README.md#properties). \`lockstorm mutants 7a\` tries one mutant.

END
	cat "$work/table"
} >docs/evidence/mutants.md
