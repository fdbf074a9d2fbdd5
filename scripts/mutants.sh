#!/bin/sh
# Plants each defect, hunts it, and writes docs/evidence/mutants.md. With a number N it also
# hunts the lock without a defect, for N runs. The page lists defects that were missed, too.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm
"$work/lockstorm" mutants --markdown --runs 50000 --control "${1:-0}" >"$work/table" || test $? = 1

{
	cat <<END
# What the hunt finds

Made by \`make mutants\` (also part of \`make campaign\`) with $(go env GOVERSION) on $(nproc) cores.

Each row but those of number 0 is a defect of a lock. \`go build -overlay\` plants it into the lock's source ([the diffs](../../internal/mutants/planted)). A hunt of at most 50,000 runs, which take about half a minute, generates clients, times, worlds and faults, without knowing the defect. A mutant counts as caught if a promised property is violated while all assumptions of the promise hold. *should break* lists the properties that are named for it, *found* the violated ones: *another* is a property that is not named, and *missed* means that nothing was found in as many runs as the row says. *runs* and *seconds* are the runs and the time until the first violation, on all cores; *build* is the build time in seconds, not included. Number 0 is the lock without a defect: anything found there is a false alarm, or a defect of the lock. The codes are those of the [properties](../../README.md#properties). \`lockstorm mutants 7a\` tries one mutant.

## How the defects were chosen

*source* names a public report or repair of such a defect, as issue or pull request of a repository on GitHub. A dash means that none is known here, and does not mean that there is none.

- **Up to 100: the catalogue.** It was written together with the hunts: defects of real lock libraries (1 to 28), and defects that reviewers planted by hand (29 to 38). A defect of it that is missed is no result but work: the hunt is widened for all locks until it catches the defect, or, if no plan can show the defect, another one takes its place. So that all of them are caught is no measure of the hunt. It says that the hunt still catches what it caught before.
- **From 101: defects that the hunt has not been changed for.** They were planted from outside, after the hunt was finished, by people who looked for what it misses. How many of these are caught is the measure.

## The defects

END
	cat "$work/table"
} >docs/evidence/mutants.md
