#!/bin/sh
# Makes every run of each row of the debate within bounds, for at most BUDGET (default 10s) a row,
# and writes docs/evidence/explore.md. Fails if a row that was finished is not as expected.
set -eu

budget=${BUDGET:-10s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command="go test ./internal/explore -run TestRowsAreAsExpected -timeout 1h -args -deviations=1 -budget=$budget"
$command -table="$work/table" >&2

{
	cat <<END
# Every run of the debate's rows

Made by \`make explore\` with $(go env GOVERSION) on $(nproc) cores:

\`\`\`
\$ $command -table=FILE
\`\`\`

Each row is [explored](../explore.md) with its own world and plan: two latencies of each message, two values of each drawn number beside a random one, every subset of the plan's faults, and at most one deviation. \`holds\` is a proof within these bounds. A violation is the shortest run that there is, with its events and faults, if the row was finished. A row is left unfinished after $budget; then it may still violate more.

END
	cat "$work/table"
} >docs/evidence/explore.md
