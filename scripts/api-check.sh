#!/bin/sh
# Compares the public Go packages with those of the last tagged version before this commit. A change after
# which users' code may not compile must be named in CHANGELOG.md, before the section of that version, as
# package.Name; from v1.0.0 on it is an error in any case.
set -eu
cd "$(git rev-parse --show-toplevel)"
module=$(go list -m)

tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || {
	echo "api-check.sh: there is no tagged version before this commit, so there is nothing to compare with"
	exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

go build -modfile=tools/apidiff/go.mod -o "$work/apidiff" golang.org/x/exp/cmd/apidiff
git archive --prefix=old/ "$tag" | tar -x -C "$work"

# diff ARGUMENTS: runs apidiff on the module, without a line for each internal package.
diff() {
	"$work/apidiff" -m "$@" "$module" 2>"$work/problems" || {
		grep -v '^Ignoring internal package' "$work/problems" >&2
		exit 1
	}
}
(cd "$work/old" && diff -w "$work/old.api")
diff -incompatible "$work/old.api" >"$work/changes"

awk -v version="${tag#v}" '/^## / && index($0, version) { exit } { print }' CHANGELOG.md >"$work/new-entries"
sed -n 's|^- \./\([^:]*\): .*|\1|p; s|^- \([^./][^:]*\): .*|\1|p' "$work/changes" | sed 's|.*/||' | while read -r name; do
	case $tag in v0.*) grep -qF "$name" "$work/new-entries" || echo "$name" ;; *) echo "$name" ;; esac
done >"$work/unnamed"
if [ -s "$work/unnamed" ]; then
	cat "$work/changes"
	echo "api-check.sh: since $tag these changed incompatibly, and CHANGELOG.md does not name them or the version is stable:" $(cat "$work/unnamed") >&2
	exit 1
fi
echo "no unnamed incompatible change since $tag"
