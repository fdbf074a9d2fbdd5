#!/bin/sh
# Measures a part and where its time goes: prints docs/evidence/speed.md (simulator) or
# docs/evidence/checker-speed.md (checker).
set -eu

machine="with $(go env GOVERSION) on $(nproc) shared cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1))"
profiled="go test -pgo=cmd/lockstorm/default.pgo"
before=9ad11c4e # the commit with which the simulator is compared

# show TITLE COMMAND…: prints a section with the command and its output.
show() {
	printf '\n## %s\n\n```\n$ %s\n' "$1" "$2"
	sh -c "$2" 2>&1
	printf '```\n'
}

simulator() {
	echo "# Speed"
	echo
	echo "Made by \`make speed\` $machine. A cycle is an acquire and a release over five nodes, including the hold's context, the handling of late replies, and the checker, which judges each event as it happens. Garbage collection is set as in the command, and the compiler uses the command's profile (\`make pgo\`). Where the simulator is compared with an earlier commit, both run by turns."

	show "Beside commit $before" "sh scripts/faster.sh $before 6 2>/dev/null"
	show "On one core" "$profiled ./internal/runner -run '^$' -bench 'Cycles|Worlds' -cpu 1 -count 5 | grep ^Bench"
	show "On all cores" "$profiled ./internal/runner -run '^$' -bench Batch -count 3 | grep ^Bench"
	show "Beside a bare queue of events, and beside the same lock in a synctest bubble" \
		"$profiled ./internal/sim -count 1 -run TestSpeed -v -args -cycles 200000 | sed -n 's/.*speed_test.go:[0-9]*: //p'"
	show "Where the time of a cycle goes: one client" "sh scripts/profile.sh Cycles/one-client"
	show "Where the time of a cycle goes: ten clients on 64 resources" "sh scripts/profile.sh Cycles/ten-clients-64"
	show "A branch: a world is opened, runs so many events, and is judged" "$profiled ./internal/runner -run '^$' -bench Prefix -cpu 1 -count 3 | grep ^Bench"
	cat <<'END'

The floor of a branch is the world with one event: nodes, links, clients and judges are made anew. The events of a prefix come on top. Nothing is copied from the run that the branch leaves, because the stack of a client's code cannot be copied in Go.

## Where the limit is

A cycle is 20 messages: five SETs, five deletes, and their replies. For each one a latency is drawn, the message is put into the queue in the order of time and taken out again, and its effect is hashed. Each change of a key, each step of a client and each call goes to the judges. In `go tool pprof -top` no function takes more than 4 %. So only fewer steps would make a cycle much faster, such as messages that are not modelled or properties that are not judged.

## What did not pay

Tried, measured with `sh scripts/faster.sh`, and taken back:

- The next events in a sorted list of 64, the others in the heap: 0.96 of the speed with one client, 0.88 with ten that fight.
- The hashes of recent texts remembered for the trace: 0.96 to 0.98.
- A compiler's profile of the whole debate beside that of the cycles: 1.01.
END
}

checker() {
	bench="$profiled ./checker -run '^$' -cpu 1 -timeout 1h -bench"
	echo "# Speed of the checker"
	echo
	echo "Made by \`make speed-checker\` $machine. Others use the machine too, so look at processor time and at the fastest round. An operation is a call with its return. Histories are in memory. In \`turns\` ten clients acquire and release one resource, one after another. In \`traffic\` ten clients use 16 resources, with refused tries, failed extensions, losses, lapses and dead holders (\`checker/traffic_test.go\`)."

	show "Lease exclusion alone" "$bench Lease -count 3 | grep ^Bench"
	show "Ten million operations" "$bench 'Lease/.*/operations=10000000$' -benchtime 1x -count 2 -args -big | grep ^Bench"
	show "Porcupine alone, on the model of a lease lock: it grows with the square of the operations of one resource" "$bench '^BenchmarkPorcupine' -count 3 | grep ^Bench"
	show "All properties and all measurements" "$bench 'All|Accesses' -count 3 | grep ^Bench"
	show "Effect exclusion alone: an operation is a section, which reads and writes" "$bench 'Effect$' -benchtime 1x | grep ^Bench"
	show "Porcupine alone on such sections, not cut" "$bench EffectByPorcupine -benchtime 1x | grep ^Bench"
	show "A history that is read, and read and judged" "$profiled ./history ./results -run '^$' -bench 'Reader|Writer|Judge' | grep ^Bench"
	show "Ten million operations, judged from their file" \
		"$profiled ./results -count 1 -run TestLongHistories -v -args -operations 10000000 | sed -n 's/.*speed_test.go:[0-9]*: //p'"
	show "A thousand calls of a hundred thousand that never return, beside none" "$bench Unknown -count 3 | grep ^Bench"
}

"$1"
