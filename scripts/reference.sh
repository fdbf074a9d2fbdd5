#!/bin/sh
# Renews the reference results and the pages made from them. If a row or a lock is not as
# expected, the script fails and renews nothing.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -buildvcs=false -tags simulated -o "$work/lockstorm" ./cmd/lockstorm
PATH=$work:$PATH

mkdir "$work/reference"
lockstorm debate --save "$work/reference" >"$work/said" || { cat "$work/said"; exit 1; }
lockstorm compare --save "$work/reference" >"$work/said" || { cat "$work/said"; exit 1; }
mkdir -p results/reference
cp "$work"/reference/*.json results/reference/

lockstorm debate --from results/reference --format markdown >docs/evidence/debate.md
lockstorm compare --from results/reference --format markdown >docs/evidence/compare.md

# README.md shows the rows that its marker names. The text between the markers is replaced.
rows=$(sed -n 's/^<!-- debate \(.*\) -->$/\1/p' README.md)
# shellcheck disable=SC2086 # rows are words
lockstorm debate $rows --from results/reference --format markdown --short >"$work/table"
sed -e '/^<!-- debate .* -->$/,/^<!-- \/debate -->$/{//!d;}' -e "/^<!-- debate .* -->\$/r $work/table" README.md >"$work/README.md"
cp "$work/README.md" README.md
