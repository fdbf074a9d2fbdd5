#!/bin/sh
# Prints how large the project is.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
go build -pgo=off -o "$work/lockstorm" ./cmd/lockstorm

# sum: prints the lines and bytes of the files that the standard input names.
sum() { xargs cat | wc -l -c | awk '{ print $1, $2 }'; }
lines() { sum | cut -d ' ' -f 1; }
row() { printf '%-40s%s\n' "$1" "$2"; }

# words: prints what the command completes, one a line.
words() { "$work/lockstorm" __complete "$@" 2>/dev/null | sed -n 's/^\([a-z-][a-z-]*\).*/\1/p'; }
verbs=$(words '' | grep -vx -e completion -e help)
flags=$(for verb in $verbs; do words "$verb" --; done | grep -c -v -x -e --help -e --color)

code=$(git ls-files '*.go' | grep -v '_test\.go$' | lines)
others=$(git ls-files 'stores/*.go' 'evidence/*.go' 'locktest/*locktest/*.go' locktest/redsynctest redlock/redlockotel | grep '\.go$' | grep -v '_test\.go$' | lines)
row 'Go outside tests, all modules' "$code lines"
row 'of it the root module' "$((code - others)) lines"
row 'tests' "$(git ls-files '*_test.go' | lines) lines"
row 'verbs' "$(echo "$verbs" | wc -l)"
row 'flags of verbs' "$flags"
row 'packages behind the command' "$(go list -deps ./cmd/lockstorm | wc -l)"
row 'size of the command' "$(wc -c <"$work/lockstorm") bytes"
row 'direct dependencies of the root module' "$(go list -m -f '{{if not (or .Indirect .Main)}}{{.Path}}{{end}}' all | grep -c .)"
row 'Markdown' "$(git ls-files '*.md' | sum | cut -d ' ' -f 2) bytes"
row 'README.md, DESIGN.md, CHANGELOG.md' "$(wc -c <README.md), $(wc -c <DESIGN.md), $(wc -c <CHANGELOG.md) bytes"
row 'targets of make' "$(grep -c '^[a-z-]*:.*## ' Makefile)"
