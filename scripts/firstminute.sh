#!/bin/sh
# Measures the first minute of a new user: building the command from empty caches, and the time from
# starting it to its first row. Writes docs/evidence/first-minute.md.
set -eu

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT # the module cache is read-only
page=$work/page.md

# seconds COMMAND…: runs it, and prints how many seconds it took.
seconds() {
	began=$(date +%s.%N)
	"$@" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
	echo "$(date +%s.%N) $began" | awk '{ printf "%.1f", $1 - $2 }'
}

# cold TAGS NAME: builds the command as a new user does, in a fresh clone and with empty caches.
cold() {
	git clone -q . "$work/$2"
	fetched=$(GOMODCACHE=$work/$2-modules GOCACHE=$work/$2-cache seconds go -C "$work/$2" mod download)
	built=$(GOMODCACHE=$work/$2-modules GOCACHE=$work/$2-cache seconds go -C "$work/$2" build -tags "$1" -o "$work/$2-lockstorm" ./cmd/lockstorm)
	size=$(wc -c <"$work/$2-lockstorm" | awk '{ printf "%.0f", $1 / 1e6 }')
	echo "| $3 | $built | $size |" >>"$page"
	echo "$3: $built s, modules in $fetched s" >&2
}

# first ROW COMMAND: prints the seconds until a line begins with ROW on a terminal.
first() {
	began=$(date +%s.%N)
	script -qec "$2" /dev/null | { sed -n "/^$1 /q"; date +%s.%N; } >"$work/seen"
	echo "$(cat "$work/seen") $began" | awk '{ printf "%.1f", $1 - $2 }'
}

cat >"$page" <<END
# The first minute

Made by \`make first-minute\` with $(go env GOVERSION) on $(nproc) cores.

## From nothing to the command

A fresh clone, and nothing in Go's build cache. Modules are downloaded before, because that depends on the network.

| command | s | MB |
|---|---:|---:|
END
cold simulated simulated '`go install -tags simulated ./cmd/lockstorm`'
cold '' whole '`go install ./cmd/lockstorm`'

cat >>"$page" <<END

## From the command to its first row

The least and the greatest of five times.

| command | first row, s |
|---|---:|
END
times=$(for _ in 1 2 3 4 5; do first calm "$work/whole-lockstorm debate"; echo; done | sort -n)
printf '| `lockstorm debate` | %s to %s |\n' "$(echo "$times" | head -1)" "$(echo "$times" | tail -1)" >>"$page"

mv "$page" docs/evidence/first-minute.md
