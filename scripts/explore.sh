#!/bin/sh
# Makes every run of the smallest world of each row of the debate, for at most BUDGET (default 5s),
# of each compared lock in each trial, and of the lock with each planted defect. Writes
# docs/evidence/explore.md. Fails if a row that was finished is not as expected.
set -eu

budget=${BUDGET:-5s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows="go test ./internal/explore -run TestRowsAreAsExpected -timeout 1h -args -deviations=2 -budget=$budget"
locks="go test ./internal/explore -run TestComparedLocks -timeout 1h -args -deviations=1 -budget=1s"
mutants="go test ./internal/mutants -run TestExploredMutants -timeout 1h -args -explored"
$rows -table="$work/rows" >&2
$locks -table="$work/locks" >&2
$mutants -table="$work/mutants" >&2

{
	cat <<END
# Every run of small worlds

Made by \`make explore\` with $(go env GOVERSION) on $(nproc) cores.

## The debate's rows

\`\`\`
\$ $rows -table=FILE
\`\`\`

Each row is [explored](../explore.md) in its smallest world: two latencies of each message, two values of each drawn number beside a random one, every subset of the plan's faults, and at most two deviations. \`deviations\` is the number with which every run was made in $budget: for these, \`holds\` is a proof. A violation is the shortest run that was found, with its events and faults.

END
	cat "$work/rows"
	cat <<END

## The compared locks

\`\`\`
\$ $locks -table=FILE
\`\`\`

Each lock in the smallest world of each trial of the [comparison](compare.md), with at most one deviation and one second a trial: the violated properties, or ✓ and the number of deviations with which every run was made.

END
	cat "$work/locks"
	cat <<END

## The planted defects

\`\`\`
\$ $mutants -table=FILE
\`\`\`

The worlds of the lock with each [planted defect](mutants.md), explored with at most one deviation: the debate's rows and the trials of the comparison. A defect is found if a world violates a property that it keeps without the defect. *runs up to there* counts the runs of all worlds up to the first find.

END
	cat "$work/mutants"
} >docs/evidence/explore.md
