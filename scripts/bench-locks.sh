#!/bin/sh
# Measures the locks of bench/speed against each other in N rounds (default 6), and renews
# docs/evidence/bench.md and the table in README.md. Other work on the machine widens the
# intervals.
set -eu

rounds=${1:-6}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd bench && go test -trimpath -c -o "$work/speed" ./speed && go build -trimpath -o "$work/tables" ./speed/tables)

# Servers and proxies use the last processor, clients the others. So clients never wait for
# a processor that a server uses, and a lock that saves work is faster.
pin= on=
how="servers, proxies and clients share $(nproc) processors"
if [ "$(nproc)" -gt 1 ] && command -v taskset >"$work/taskset"; then
	last=$(($(nproc) - 1))
	pin="taskset -c 0-$((last - 1))" on="-servers-on $last"
	how="all servers and proxies on one processor, all clients on $last other"
fi

round=1
while [ "$round" -le "$rounds" ]; do
	echo "round $round of $rounds" >&2
	# Each lock in each network runs in its own process, so that work left in the background
	# for a silent node does not slow down the next lock.
	"$work/tables" -lines >"$work/lines"
	while read -r pattern; do
		$pin "$work/speed" $on -test.run '^$' -test.bench "$pattern" -test.benchtime 500ms >>"$work/figures" 2>>"$work/said" ||
			{ cat "$work/said" "$work/figures"; exit 1; }
	done <"$work/lines"
	round=$((round + 1))
done

"$work/tables" <"$work/figures" >"$work/long"
"$work/tables" -short <"$work/figures" >"$work/short"

version() { (cd bench && go list -m -f '{{.Path}} {{.Version}}' "$1"); }
{
	echo "# Locks beside each other"
	echo
	echo "Made by \`make bench-locks\`, in $rounds rounds with $(go env GOVERSION), Redis $(redis-server --version | sed 's/.* v=\([^ ]*\).*/\1/'), $(version github.com/redis/go-redis/v9), $(version github.com/go-redsync/redsync/v4), $(version github.com/bsm/redislock), $(version github.com/redis/rueidis), on $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $how."
	echo
	echo "A cycle is an acquire and a release; each cycle uses another resource. In a round each lock runs in each network, in its own process with goroutines as clients and five redis-server processes on the same processor. A figure is the median of the rounds with benchstat's 95 % interval. A ratio compares two locks within the same round. Figures of one client that have a target are measured five times per round, four of them in direct succession. Servers count bytes and commands, including commands in scripts. All locks wait 50 ms for a node and send nothing twice; with go-redis's defaults a silent node would cost redsync 12 s. The output of \`bench/speed\` also suits benchstat (\`go tool benchstat -row /net,/clients -col /lock\` in that module)."
	echo
	echo "Why p99 of lockstorm is higher with a silent node than without it: garbage collection. Until the lock knows that the node is silent, hundreds of cycles wait for it at once, each with goroutines of its own. Go keeps the descriptors of ended goroutines, and every later collection looks at a thousand of them: it takes 2 ms instead of 0.5 (\`GODEBUG=gctrace=1\`), on the only processor of the clients. Without collections (\`GOGC=off\`, three pairs of runs) p99 with the silent node is 0.84 to 0.90 of p99 without it."
	echo
	cat "$work/long"
} >"$work/bench.md"
cp "$work/bench.md" docs/evidence/bench.md

# Replace the text between the markers.
sed -e '/^<!-- locks -->$/,/^<!-- \/locks -->$/{//!d;}' -e "/^<!-- locks -->\$/r $work/short" README.md >"$work/README.md"
cp "$work/README.md" README.md
