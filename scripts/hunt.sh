#!/bin/sh
# How long hunts take to find what the rows of the debate show, without their plans. The
# table in docs/hunt.md, which is committed, is replaced. A row that is not found by every
# hunt does not end this: the table says so.
set -eu

hunts=${HUNTS:-50}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/lockstorm" ./cmd/lockstorm

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

# What stands between the markers is replaced.
sed -e '/^<!-- hunt -->$/,/^<!-- \/hunt -->$/{//!d;}' -e "/^<!-- hunt -->\$/r $work/table" docs/hunt.md >"$work/hunt.md"
cp "$work/hunt.md" docs/hunt.md
