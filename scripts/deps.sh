#!/bin/sh
# Installs redis-server and libfaketime, and what the arguments name (docker.io, chromium, npm, python: redis-py,
# languages: both, etcd, stores: etcd, PostgreSQL and ZooKeeper, slurm: Slurm and MUNGE), from the
# distribution's packages if they are missing. Without the rights to do so it prints the command to run.
set -eu

missing=
command -v redis-server >/dev/null 2>&1 || missing=' redis-server'
ls /usr/lib/*/faketime/libfaketime.so.1 /usr/lib64/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1 2>/dev/null |
	grep -q . || missing="$missing libfaketime"
for extra in $(echo " $* " | sed 's/ languages / npm python /; s/ stores / etcd stores /'); do
	case $extra in
	docker.io) command -v dockerd >/dev/null || missing="$missing docker.io" ;;
	chromium)
		for browser in ${CHROME:-chromium chromium-browser google-chrome}; do
			command -v "$browser" >/dev/null && break
		done || missing="$missing chromium"
		;;
	etcd) command -v etcd >/dev/null || missing="$missing etcd-server" ;;
	stores)
		command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
		command -v java >/dev/null || missing="$missing default-jre-headless"
		ls /usr/share/java/zookeeper.jar >/dev/null 2>&1 || missing="$missing zookeeper"
		;;
	slurm)
		command -v slurmctld >/dev/null || ls /usr/sbin/slurmctld >/dev/null 2>&1 || missing="$missing slurmctld"
		command -v slurmd >/dev/null || ls /usr/sbin/slurmd >/dev/null 2>&1 || missing="$missing slurmd"
		command -v sbatch >/dev/null || missing="$missing slurm-client"
		command -v munged >/dev/null || ls /usr/sbin/munged >/dev/null 2>&1 || missing="$missing munge"
		;;
	python)
		for python in python3 /usr/bin/python3; do
			$python -c 'import redis' 2>/dev/null && break
		done || missing="$missing python3 python3-redis"
		;;
	npm) command -v npm >/dev/null || missing="$missing nodejs npm" ;;
	*) echo "deps.sh: no package $extra: want docker.io, chromium, npm, python, languages, etcd, stores or slurm" >&2 && exit 2 ;;
	esac
done
[ -z "$missing" ] && exit 0

# refuse HOW: tells what is missing and what to do about it, and ends this.
refuse() {
	echo "missing:$missing: $1, then this again" >&2
	exit 1
}

install='apt-get install -y --no-install-recommends'
command -v apt-get >/dev/null 2>&1 || refuse "install with your system's packages"
if [ "$(id -u)" = 0 ]; then
	as=
elif sudo -n true 2>/dev/null; then
	as='sudo -n'
else
	refuse "run 'sudo $install$missing'"
fi

echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
# The packages would start servers of their own, which the tests do not use:
# tell the package scripts not to.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' | $as tee "$policy" >/dev/null
	$as chmod +x "$policy"
	trap '$as rm -f "$policy"' EXIT
fi
$as apt-get update -qq
$as $install$missing
