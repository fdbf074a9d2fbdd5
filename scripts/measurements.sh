#!/bin/sh
# Measures all sweeps, some also on real servers, and renews results/reference/SWEEP,
# results/process/SWEEP and docs/evidence/measurements.md. It continues where it was stopped:
# measurements/ keeps partial results. If a formula does not fit, the script fails and renews
# nothing.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -buildvcs=false -o "$work/lockstorm" ./cmd/lockstorm

# measure WORLD SWEEP FLAG…
measure() {
	world=$1 sweep=$2
	shift 2
	echo "$sweep, $world" >&2
	"$work/lockstorm" sweep "$sweep" "$@" --out "measurements/$world/$sweep" >"$work/said" || {
		cat "$work/said"
		echo "nothing renewed; if this is not a defect, remove measurements/$world/$sweep to measure it again" >&2
		exit 1
	}
}
measure reference restart-delay --runs 9604
measure reference restart-delay-price --runs 200
measure reference restart-boundary --runs 50
measure reference drift --runs 1000
measure reference drift-edge --runs 9604
measure reference restart-delay-reference --runs 20
measure process restart-delay-reference --runs 3 --backend process

cp docs/evidence/measurements.md "$work/page"
for dir in measurements/*/*; do
	into=results/${dir#measurements/}
	rm -rf "$into" && mkdir -p "$into"
	cp "$dir"/outcomes.jsonl "$dir"/*.csv "$dir"/summary.md "$dir"/*.svg "$into"
	# The summary's main lines go into the page, between the sweep's markers.
	name=${dir#measurements/}
	sed -n 's/^Made by \(`[^`]*`\).*/\1:\n/p; /^- [A-Z]/p' "$dir/summary.md" >"$work/lines"
	sed -e "\\|^<!-- $name -->\$|,\\|^<!-- /$name -->\$|{//!d;}" -e "\\|^<!-- $name -->\$|r $work/lines" "$work/page" >"$work/page.new"
	mv "$work/page.new" "$work/page"
done
cp "$work/page" docs/evidence/measurements.md
rm -rf measurements
