#!/bin/sh
# sh scripts/engine.sh COMMAND...: runs a command with a Docker engine. If no engine runs, root
# starts one from the distribution's packages, without any network but loopback and the engine's
# own.
#
# That engine lives in namespaces and in memory. However this script ends, the kernel removes the
# engine's processes, containers, bridge, packet filter and files.
set -eu

runs() { [ -n "${DOCKER_HOST:-}" ] || [ -S /var/run/docker.sock ]; }

cgroup=lockstorm-engine

# What the kernel keeps are names of control groups, which are empty by now, or others use.
forget_groups() { find /sys/fs/cgroup -depth -type d -path "*/$cgroup*" -exec rmdir {} + 2>/dev/null || true; }

if [ "${1:-}" != --inside ]; then
	runs && exec "$@"
	if [ "$(id -u)" != 0 ]; then
		echo "there is no Docker engine, and only root can start one: start it, or name its socket in DOCKER_HOST" >&2
		exit 1
	fi
	sh "$(dirname "$0")/deps.sh" docker.io
	forget_groups
	exec unshare --fork --pid --kill-child --mount-proc --mount --net -- sh "$0" --inside "$@"
fi
shift

dir=/run/lockstorm-engine
ip link set lo up
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /etc/docker
mkdir "$dir" "$dir/tmp"
export TMPDIR="$dir/tmp" # what ends with us has nobody left to remove it
export DOCKER_HOST="unix://$dir/docker.sock"
dockerd --host "$DOCKER_HOST" --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/pid" --cgroup-parent "/$cgroup" >"$dir/log" 2>&1 &
engine=$!

stop() {
	kill "$engine" 2>/dev/null && wait "$engine" || true
	forget_groups
}
trap stop EXIT
trap 'exit 130' INT TERM

tries=0
until [ -S "$dir/docker.sock" ] && docker version >/dev/null 2>&1; do
	tries=$((tries + 1))
	if [ "$tries" -gt 300 ] || ! kill -0 "$engine" 2>/dev/null; then
		echo "the Docker engine does not start; the end of its log:" >&2
		tail -n 20 "$dir/log" >&2
		exit 1
	fi
	sleep 0.1
done

"$@"
