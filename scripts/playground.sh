#!/bin/sh
# Builds the playground: static files in internal/playground/front/dist, for any host, and for
# "lockstorm report --http" of a program that is built afterwards. Needs Node.js with npm.
set -eu
cd "$(dirname "$0")/../internal/playground"
command -v npm >/dev/null || { echo "playground.sh: npm is missing (Debian: nodejs, npm)" >&2; exit 1; }

go run ./assets front
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Without inlining the program is a fifth smaller when compressed. Where runs spend their time, it is
# inlined: without that they take half as long again.
module=github.com/lockstorm/lockstorm
inlined=-gcflags=all=-l
for hot in runtime runtime/... internal/runtime/... internal/abi internal/sync slices maps iter sync sync/atomic \
	math math/bits math/rand/v2 time cmp $module/internal/sim $module/internal/runner/... $module/internal/world \
	$module/checker $module/history $module/redlock $module/nemesis $module/env $module/guard; do
	inlined="$inlined -gcflags=$hot="
done
GOOS=js GOARCH=wasm go build -trimpath -ldflags='-s -w' -pgo=off $inlined -o "$work/lockstorm.wasm" ./wasm
gzip -9nc "$work/lockstorm.wasm" >front/public/lockstorm.wasm.gz

cd front
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
	npm ci --no-audit --no-fund
fi
rm -rf dist/* # but not .keep
npm run --silent build
wc -c dist/lockstorm.wasm.gz dist/assets/* | sed 's/^/  /'
