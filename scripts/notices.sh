#!/bin/sh
# Prints the licences of everything that is linked into the released programs: Go, the modules, and what
# the playground's page contains, if it is built. A module without a licence is an error.
set -eu
cd "$(dirname "$0")/.."

section() {
	printf '\n%s\n%s\n\n' "$1" "================================================================================"
	cat "$2"
}

echo "lockstorm is licensed under the Apache License 2.0 (LICENSE). It contains:"
section "The Go programming language and its library" "$(go env GOROOT)/LICENSE"
modules=$(for os in linux darwin windows; do
	GOOS=$os go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/lockstorm
done | sort -u)
echo "$modules" | while read -r path version dir; do
	files=$(find "$dir" -maxdepth 1 -type f ! -name '*.go' \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'notice*' \) | sort)
	[ -n "$files" ] || { echo "notices.sh: $path has no licence in $dir" >&2; exit 1; }
	for file in $files; do
		section "$path $version: $(basename "$file")" "$file"
	done
done
page=internal/playground/front/dist/licenses.md
if [ -f "$page" ]; then section "The page of the playground" "$page"; fi
