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

Made by \`make mutants\` (the campaign makes it too) with $(go env GOVERSION) on $(nproc) cores.

Each row is a defect that real lock libraries have had, planted into the source of the lock by \`go build -overlay\` (the diffs are in [internal/mutants/planted](../../internal/mutants/planted)) and hunted for half a minute at most: clients, times and worlds of all sorts, faults of all kinds, and nothing that is made for the defect. It is caught when a property breaks that the lock promises, inside the assumptions under which it does. *should break* is what a catalogue of such defects names, *found* what broke, *runs* and *seconds* how long it took until then, on all cores, and *build* the seconds to build the mutant, which are not in them. Number 0 is the lock without a defect, of which nothing may be found. The codes are those of the [properties](../../README.md#properties); \`lockstorm mutants 7a\` tries one alone.

END
	cat "$work/table"
} >docs/evidence/mutants.md
