#!/bin/sh
# Makes all of a release but the images and the upload, in dist, and checks what a user gets of it.
set -eu
cd "$(dirname "$0")/.."
release() { go tool -modfile=tools/goreleaser/go.mod goreleaser "$@"; }

# Go does not record the commit in a further worktree of a repository, where .git is a file.
[ -d .git ] || { echo "release-check.sh: this is not a clone of its own, so the program would not know its commit" >&2; exit 1; }
release check
release release --snapshot --clean --skip=docker

version=$(sed -n 's/.*"version":"\([^"]*\)".*/\1/p' dist/metadata.json)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "release-check.sh: $1" >&2
	exit 1
}

(cd dist && sha256sum --check --quiet checksums.txt)
for platform in linux_amd64.tar.gz linux_arm64.tar.gz darwin_amd64.tar.gz darwin_arm64.tar.gz windows_amd64.zip windows_arm64.zip; do
	archive=dist/lockstorm_${version}_$platform
	case $archive in
	*.zip) unzip -qql "$archive" | awk '{ print $NF }' ;;
	*) tar -tzf "$archive" ;;
	esac >"$work/files"
	for file in LICENSE THIRD_PARTY_NOTICES README.md CHANGELOG.md completions/lockstorm.bash completions/lockstorm.zsh completions/lockstorm.fish completions/lockstorm.powershell; do
		grep -qx "$file" "$work/files" || fail "$archive has no $file"
	done
	bill=dist/lockstorm_${version}_${platform%%.*}.cdx.json
	grep -q pkg:golang/github.com/anishathalye/porcupine@ "$bill" || fail "$bill does not list porcupine"
	wc -c "$archive"
done

# As a user does it, from a place that has the files of the release.
mkdir "$work/releases"
ln -s "$PWD/dist" "$work/releases/v$version"
RELEASES=file://$work/releases sh scripts/download.sh "v$version" "$work/bin"
"$work/bin/lockstorm" --version >"$work/version"
cat "$work/version"
grep -qx "lockstorm revision $(git rev-parse HEAD)" "$work/version" || fail "the program does not name its commit"
grep -q '^lockstorm date 20' "$work/version" || fail "the program does not name its date"
"$work/bin/lockstorm" debate calm --runs 3
