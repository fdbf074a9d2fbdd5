#!/bin/sh
# Builds the site into site/dist, with the playground as scripts/playground.sh has built it. Its
# pages stand below SITE_BASE on their host (/lockstorm/). Needs Node.js with npm.
set -eu
cd "$(dirname "$0")/.."
command -v npm >/dev/null || { echo "site.sh: npm is missing (Debian: nodejs, npm)" >&2; exit 1; }
played=internal/playground/front/dist
[ -e $played/index.html ] || { echo "site.sh: $played/index.html is missing: scripts/playground.sh builds it" >&2; exit 1; }

cd site
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
	npm ci --no-audit --no-fund
fi
rm -rf dist
npm run --silent build
cp -R ../$played dist/playground
