#!/bin/sh
# Builds the release's image for real servers, and runs it. No registry is needed: the base is made from
# Debian's packages, and contains those that image/servers.Dockerfile installs as a source of packages.
# sh scripts/servers-image.sh makes the base and continues with a Docker engine, which root starts if
# there is none.
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" != --inside ]; then
	[ "$(id -u)" = 0 ] || { echo "servers-image.sh: only root can make the base" >&2; exit 1; }
	sh scripts/deps.sh mmdebstrap
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	# shellcheck disable=SC2016 # mmdebstrap's shell expands $1, the directory of the base
	mmdebstrap --quiet --variant=apt --skip=cleanup/apt \
		--customize-hook='chroot "$1" apt-get install -qq -y --download-only --no-install-recommends redis-server libfaketime' \
		--customize-hook='mkdir "$1/packages" && mv "$1"/var/cache/apt/archives/*.deb "$1/packages"' \
		--customize-hook='cd "$1/packages" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null' \
		--customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/etc/apt/sources.list.d/*' \
		--customize-hook='echo "deb [trusted=yes] file:/packages ./" >"$1/etc/apt/sources.list"' \
		bookworm "$work/base.tar"
	arch=$(go env GOARCH)
	mkdir -p "$work/context/linux/$arch"
	CGO_ENABLED=0 go build -pgo=off -trimpath -ldflags='-s -w' -o "$work/context/linux/$arch/lockstorm" ./cmd/lockstorm
	cp -r image LICENSE "$work/context"
	mkdir "$work/context/release"
	sh scripts/notices.sh >"$work/context/release/THIRD_PARTY_NOTICES"
	sh scripts/engine.sh sh "$0" --inside "$work" "linux/$arch"
	exit
fi
work=$2 platform=$3
base=lockstorm-base:$$ image=lockstorm-servers:$$
trap 'docker image rm --force "$image" "$base" >/dev/null 2>&1 || true' EXIT
trap 'exit 130' INT TERM
fail() {
	echo "servers-image.sh: $1" >&2
	exit 1
}

docker import "$work/base.tar" "$base" >/dev/null
DOCKER_BUILDKIT=0 docker build --quiet --network none --build-arg "BASE=$base" --build-arg "TARGETPLATFORM=$platform" \
	--file "$work/context/image/servers.Dockerfile" --tag "$image" "$work/context" >/dev/null
run() { docker run --rm --network none "$@"; }

[ "$(run --entrypoint id "$image" -u)" = 65532 ] || fail "the image runs as root"
[ -z "$(run --entrypoint find --user 0 "$image" / -xdev -type f -perm /6000)" ] || fail "the image has programs with set-user-ID"
run "$image" version
code=0
run "$image" run crash-restart --no-such-flag 2>/dev/null || code=$?
[ "$code" = 2 ] || fail "the exit code of a bad flag is $code"
# A run on servers is judged, whatever the verdict is: on a busy machine it may be undecided. A jump of a
# node's clock needs libfaketime.
code=0
run "$image" run crash-restart --backend process --format json >"$work/run.json" || code=$?
grep -q '"verdicts"' "$work/run.json" || fail "run crash-restart --backend process: exit code $code: $(cat "$work/run.json")"
code=0
run "$image" run node-clock-jump --backend process --format json >"$work/run.json" || code=$?
grep -q '"verdicts"' "$work/run.json" || fail "run node-clock-jump --backend process: exit code $code: $(cat "$work/run.json")"
[ -z "$(docker ps --all --quiet --filter "ancestor=$image")" ] || fail "containers are left"
docker image inspect --format 'the image has {{.Size}} bytes' "$image"
