#!/bin/sh
# Installs redis-server and libfaketime, and what its arguments name (docker.io, chromium),
# from the distribution's packages if they are missing and we may; otherwise prints the line
# to run.
set -eu

missing=
command -v redis-server >/dev/null 2>&1 || missing=' redis-server'
ls /usr/lib/*/faketime/libfaketime.so.1 /usr/lib64/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1 2>/dev/null |
	grep -q . || missing="$missing libfaketime"
for extra; do
	case $extra in
	docker.io) command -v dockerd ;;
	chromium) sh "$(dirname "$0")/browser.sh" ;;
	*) echo "deps.sh: no package $extra: want docker.io or chromium" >&2 && exit 2 ;;
	esac >/dev/null || missing="$missing $extra"
done
[ -z "$missing" ] && exit 0

install="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "missing:$missing: install with your system's packages, then run this again" >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	as=
elif sudo -n true 2>/dev/null; then
	as='sudo -n'
else
	echo "missing:$missing: run 'sudo $install', then this again" >&2
	exit 1
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
$as $install
