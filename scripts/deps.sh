#!/bin/sh
# Installs redis-server from the distribution's packages if it is missing and
# we may; otherwise prints the line to run.
set -eu

command -v redis-server >/dev/null 2>&1 && exit 0

install='apt-get install -y --no-install-recommends redis-server'
if ! command -v apt-get >/dev/null 2>&1; then
	echo "redis-server is missing: install it with your system's packages, then run this again" >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	as=
elif sudo -n true 2>/dev/null; then
	as='sudo -n'
else
	echo "redis-server is missing: run 'sudo $install', then this again" >&2
	exit 1
fi

echo "installing redis-server"
export DEBIAN_FRONTEND=noninteractive
# The package would start a server of its own, which the tests do not use:
# tell the package scripts not to.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' | $as tee "$policy" >/dev/null
	$as chmod +x "$policy"
	trap '$as rm -f "$policy"' EXIT
fi
$as apt-get update -qq
$as $install
