#!/bin/sh
# Plants each defect, hunts it, and writes docs/evidence/mutants.md. With a number N it also
# hunts the lock without a defect, for N runs. The page lists defects that were missed, too.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/lockstorm" ./cmd/lockstorm
"$work/lockstorm" mutants --markdown --control "${1:-0}" >"$work/table" || test $? = 1

{
	cat <<END
# What the hunt finds

Made by \`make mutants\` (also part of `make campaign`) with $(go env GOVERSION) on $(nproc) cores.

Each row is a defect of real lock libraries. \`go build -overlay\` plants it into the lock's source ([the diffs](../../internal/mutants/planted)), and a hunt searches for it for at most half a minute, with generated clients, times, worlds and faults of all kinds, none chosen for the defect. A mutant is caught if the lock violates a property that it promises, within its assumptions. *should break* lists the properties that a catalogue of such defects names, *found* the violated ones. *runs* and *seconds* say how long it took on all cores, without the *build* in seconds. Number 0 is the lock without a defect: whatever is found there is a false alarm. The codes are those of the [properties](../../README.md#properties). \`lockstorm mutants 7a\` tries one mutant.

END
	cat "$work/table"
} >docs/evidence/mutants.md
