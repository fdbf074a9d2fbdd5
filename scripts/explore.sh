#!/bin/sh
# Makes every run of the smallest world of each row of the debate, of each compared lock in each trial and
# with any one fault, and of the lock with each planted defect. Writes docs/evidence/explore.md. Fails if a
# row that was finished is not as expected.
set -eu

export GOGC="${GOGC:-800}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows="go test ./internal/explore -run TestRowsAreAsExpected -timeout 4h -args -deviations=2 -events=5000000"
locks="go test ./internal/explore -run TestComparedLocks -timeout 4h -args -deviations=1 -events=500000"
single="go test ./internal/explore -run TestOneFault -timeout 4h -args"
mutants="go test ./internal/mutants -run TestExploredMutants -timeout 4h -args -explored"
$rows -table="$work/rows" >&2
$locks -table="$work/locks" >&2
$single -table="$work/single" >&2
$mutants -table="$work/mutants" >&2

{
	cat <<END
# Every run of small worlds

Made by \`make explore\` with $(go env GOVERSION) on $(nproc) cores.

## The debate's rows

\`\`\`
\$ $rows -table=FILE
\`\`\`

Each row is [explored](../explore.md) in its smallest world: two latencies of each message, two values of each drawn number beside a random one, every subset of the plan's faults, and at most two deviations. \`deviations\` is the number with which every run was made before there were five million events with the same faults: for these, \`holds\` is a proof. A violation is the shortest run that was found, with its events and faults.

END
	cat "$work/rows"
	cat <<END

## The compared locks

\`\`\`
\$ $locks -table=FILE
\`\`\`

Each lock in the smallest world of each trial of the [comparison](compare.md), with at most one deviation and half a million events with the same faults: the violated properties, or ✓ and the number of deviations with which every run was made.

END
	cat "$work/locks"
	cat <<END

## One fault of any kind

\`\`\`
\$ $single -table=FILE
\`\`\`

Each lock without other faults, in the smallest world of the trial \`calm\`, with at most one fault of a kind: of any machine, at every multiple of half of the TTL and at every step of the clients, as \`--add\` of [the command](../explore.md#any-fault-of-a-kind) does it. Messages take their shortest times. The violated properties, or ✓ if no such fault violates any. As in the trial, a node of Redlock keeps nothing when it crashes, and a server by itself keeps all.

END
	cat "$work/single"
	cat <<END

## The planted defects

\`\`\`
\$ $mutants -table=FILE
\`\`\`

The worlds of the lock with each [planted defect](mutants.md), explored: the debate's rows and the trials of the comparison with at most one deviation, and the trial \`calm\` with [any one fault](#one-fault-of-any-kind). A defect is found if a world violates a property that it keeps without the defect. *runs up to the first find* counts the runs of all worlds up to that one, and *runs of the hunt* are from [the page of the hunt](mutants.md), which draws its worlds at random until it finds something.

END
	cat "$work/mutants"
} >docs/evidence/explore.md
