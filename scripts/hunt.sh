#!/bin/sh
# Measures how long hunts take to find the debate's violations without its plans, and what
# finds are shrunk to. Replaces the tables in docs/evidence/hunt.md. If a hunt misses a row,
# the table shows it, and the script continues.
set -eu

hunts=${HUNTS:-50} shrunk=${SHRUNK:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm

code=0
"$work/lockstorm" hunt --debate --hunts "$hunts" --format markdown >"$work/found" || code=$?
[ "$code" -le 1 ] || exit "$code"
{
	printf '\n```\n$ lockstorm hunt --debate --hunts %s --format markdown\n```\n\n' "$hunts"
	echo "With $(go env GOVERSION) on $(nproc) cores:"
	echo
	cat "$work/found"
	echo
} >"$work/table"

# If a find is not shrunk far enough, the script fails after it has made the tables.
code=0
go test ./internal/fuzz/shrink -run TestFindsAreShrunkToAStory -count=1 -timeout 0 -args -every=1 -hunts="$shrunk" -patience=2000 -table="$work/finds" || code=$?
{
	printf '\n```\n$ go test ./internal/fuzz/shrink -run TestFindsAreShrunkToAStory -timeout 0 -args -every=1 -hunts=%s -patience=2000 -table=FILE\n```\n\n' "$shrunk"
	cat "$work/finds"
	echo
} >"$work/shrunk"

# Replace the text between the markers.
sed -e '/^<!-- hunt -->$/,/^<!-- \/hunt -->$/{//!d;}' -e "/^<!-- hunt -->\$/r $work/table" \
	-e '/^<!-- shrinking -->$/,/^<!-- \/shrinking -->$/{//!d;}' -e "/^<!-- shrinking -->\$/r $work/shrunk" docs/evidence/hunt.md >"$work/hunt.md"
cp "$work/hunt.md" docs/evidence/hunt.md
exit "$code"
