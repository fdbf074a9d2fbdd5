#!/bin/sh
# sh scripts/download.sh VERSION DIR: downloads the program of a release, such as v1.2.3, for this
# machine, compares the archive with the release's checksums, and puts the program into DIR.
# RELEASES names another place that has the same files, as a mirror does.
set -eu

fail() {
	echo "download.sh: $1" >&2
	exit 1
}

[ $# = 2 ] || fail "want VERSION and DIR"
version=$1 dir=$2
releases=${RELEASES:-https://github.com/lockstorm/lockstorm/releases/download}

program=lockstorm extension=tar.gz
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows program=lockstorm.exe extension=zip ;;
*) fail "there is no release for $(uname -s): want Linux, macOS or Windows" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for $(uname -m): want amd64 or arm64" ;;
esac
archive=lockstorm_${version#v}_${os}_$arch.$extension

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# fetch FILE: downloads a file of the release into the work directory. A redirection must not leave TLS.
fetch() {
	curl --fail --silent --show-error --location --proto-redir '=https' --retry 3 --connect-timeout 20 --max-time 300 \
		--output "$work/$1" "$releases/$version/$1" || fail "$releases/$version/$1 cannot be downloaded"
}

# sum FILE: prints the SHA-256 sum of a file.
sum() {
	if command -v sha256sum >/dev/null; then
		sha256sum <"$1"
	else
		shasum -a 256 <"$1"
	fi | cut -d ' ' -f 1
}

fetch checksums.txt
expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/checksums.txt")
[ -n "$expected" ] || fail "release $version: checksums.txt does not list $archive"
fetch "$archive"
actual=$(sum "$work/$archive")
[ "$actual" = "$expected" ] || fail "$archive: the SHA-256 sum is $actual, and checksums.txt says $expected: nothing was installed"

case $extension in
zip) unzip -q "$work/$archive" "$program" -d "$work" ;;
*) tar -xzf "$work/$archive" -C "$work" "$program" ;;
esac
mkdir -p "$dir"
mv "$work/$program" "$dir/$program"
