#!/bin/sh
# How fast the simulator is, and where its time goes: prints docs/speed.md.
set -eu

echo "# Speed"
echo
echo "Made by \`make speed\` with $(go env GOVERSION) on $(nproc) shared cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)). Every cycle is an acquire and a release over five nodes, with the hold's context, the drains of stragglers, and every event judged while it happens. The collector runs as the command sets it, and the compiler has the command's profile (\`make pgo\`)."

# show TITLE COMMAND…: a section with the command and what it prints.
show() {
	printf '\n## %s\n\n```\n$ %s\n' "$1" "$2"
	sh -c "$2" 2>&1
	printf '```\n'
}

show "On one core" "go test -pgo=cmd/lockstorm/default.pgo ./storm -run '^$' -bench 'Cycles|Worlds' -cpu 1 -count 5 | grep ^Bench"
show "On all cores" "go test -pgo=cmd/lockstorm/default.pgo ./storm -run '^$' -bench Batch -count 3 | grep ^Bench"
show "Beside a bare queue of events, and beside the same lock in a synctest bubble" \
	"go test -pgo=cmd/lockstorm/default.pgo ./sim -count 1 -run TestSpeed -v -args -cycles 200000 | sed -n 's/.*speed_test.go:[0-9]*: //p'"
show "Where the time of a cycle goes: one client" "sh scripts/profile.sh Cycles/one-client"
show "Where the time of a cycle goes: ten clients on 64 resources" "sh scripts/profile.sh Cycles/ten-clients-64"
show "A history that is read, and read and judged" "go test -pgo=cmd/lockstorm/default.pgo ./history ./results -run '^$' -bench 'Reader|Writer|Judge' | grep ^Bench"
show "Ten million operations, judged from their file" \
	"go test -pgo=cmd/lockstorm/default.pgo ./results -count 1 -run TestLongHistories -v -args -operations 10000000 | sed -n 's/.*speed_test.go:[0-9]*: //p'"
