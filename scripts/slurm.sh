#!/bin/sh
# sh scripts/slurm.sh COMMAND...: runs a command beside Slurm: a slurmctld, two slurmd with two CPUs
# each (node1, node2), and a munged, all of the distribution's packages and on loopback. Only root can
# start them. "sh scripts/slurm.sh sh" is a shell to try sbatch in.
#
# They live in namespaces, with /run in memory. However this script ends, the kernel removes their
# processes, the jobs and their files.
set -eu

if [ "${1:-}" != --inside ]; then
	if [ "$(id -u)" != 0 ]; then
		echo "only root can start Slurm here" >&2
		exit 1
	fi
	sh "$(dirname "$0")/deps.sh" slurm
	exec unshare --fork --pid --kill-child --mount-proc --mount --net -- sh "$0" --inside "$@"
fi
shift

PATH=$PATH:/usr/sbin
dir=/run/lockstorm-slurm
ip link set lo up
ip address add 192.0.2.1/32 dev lo # glibc finds no address for a server on a machine that has only 127.0.0.1
mount -t tmpfs tmpfs /run
mkdir -p "$dir/state" "$dir/tmp"
export TMPDIR="$dir/tmp" # what ends with us has nobody left to remove it
export SLURM_CONF="$dir/slurm.conf" LOCKSTORM_TEST_SLURM=1

# proctrack/linuxproc and task/none need no control groups, and nobody counts what jobs use. A slurmd is
# told that it has two CPUs and 4 GB, whatever the machine has.
cat >"$SLURM_CONF" <<END
ClusterName=lockstorm
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=6817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmdSpoolDir=$dir/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SlurmctldTimeout=10
SlurmdTimeout=10
ReturnToService=2
NodeName=node1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=6818 CPUs=2 RealMemory=4000
NodeName=node2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=6819 CPUs=2 RealMemory=4000
PartitionName=all Nodes=node1,node2 Default=YES State=UP
END

# start NAME COMMAND...: starts a daemon, and keeps what it prints.
start() {
	name=$1
	shift
	"$@" >"$dir/$name.log" 2>&1 &
}

umask 077
head -c 1024 /dev/urandom >"$dir/munge.key"
umask 022
start munged munged --foreground --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" --log-file="$dir/munged.said" --seed-file="$dir/munged.seed"

# until_ready WHAT COMMAND...: waits until a command succeeds.
until_ready() {
	what=$1 tries=0
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ "$tries" -gt 300 ]; then
			echo "$what is not ready; the ends of the logs:" >&2
			tail -n 20 "$dir"/*.log >&2
			exit 1
		fi
		sleep 0.1
	done
}
idle() { [ "$(timeout 2 sinfo --noheader --format='%D %t')" = '2 idle' ]; }

until_ready munged test -S "$dir/munge.socket"
start slurmctld slurmctld -D -i
start node1 slurmd -D -N node1
start node2 slurmd -D -N node2
until_ready Slurm idle

"$@"
