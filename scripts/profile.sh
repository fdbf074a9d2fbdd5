#!/bin/sh
# Profiles the benchmark of simulated cycles, and prints the budget of a cycle: the share of
# each part, and its nanoseconds.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go test -pgo="$PWD/cmd/lockstorm/default.pgo" ./internal/runner -run '^$' -bench "${1:-Cycles/ten-clients-64}" -benchtime 1000000x -cpu 1 \
	-cpuprofile "$work/cpu" -o "$work/runner.test" | grep cycles/s | tee "$work/result"
go tool pprof -top -nodecount 100000 -nodefraction 0 "$work/runner.test" "$work/cpu" 2>/dev/null | awk -v cycle="$(awk '{ print $3 }' "$work/result")" '
	function part(name) {
		if (name ~ /runtime.*(malloc|newobject|gc|GC|scan|mark|sweep|mspan|mcache|mcentral|mheap|heap|wb|bulkBarrier|memclr|nextFree|greyobject|findObject|typePointers|gcw|lfstack|tryDefer|spanOf|divRoundUp|madvise|copystack|newstack|stack)/) return "memory: allocation and its collection"
		if (name ~ /runtime.*(coro|mcall|gogo|casg|guintptr|schedule|execute|dropg|lock2|unlock2|systemstack|gosave|park|ready)|runtime\/atomic|^iter\./) return "coroutines: switching between them"
		if (name ~ /\/sim\.\(?\*?(queue|event|heap)\)?|sim\.newEvent/) return "sim: the queue of events"
		if (name ~ /\/sim\.(\(\*?trace\)|longText|text|word)/) return "sim: the trace hash"
		if (name ~ /\/sim\.|\/world\.|\/nemesis\./) return "sim: network, nodes, clients, clocks"
		if (name ~ /\/redlock\./) return "redlock: the lock itself"
		if (name ~ /\/checker\./) return "checker: the properties"
		if (name ~ /\/runner\.|\/history\./) return "runner: the workload and the recorder"
		if (name ~ /maps|aeshash|strhash|mapaccess|mapassign|mapdelete/) return "maps"
		return "rest: copying, locking, contexts, tokens"
	}
	$2 ~ /%$/ {
		name = $6
		for (i = 7; i <= NF; i++) name = name " " $i
		share = $2
		sub(/%/, "", share)
		sum[part(name)] += share
	}
	END { for (p in sum) printf "%5.1f %% %6.0f ns  %s\n", sum[p], sum[p] / 100 * cycle, p }' | sort -rn
