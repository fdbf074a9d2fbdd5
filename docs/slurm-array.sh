#!/bin/sh
# Makes a sweep, an exploration or a hunt in the tasks of a Slurm array, and joins them in a job that
# waits for the array:
#
#   sh slurm-array.sh
#   sh slurm-array.sh 50 runs/calm explore calm --add crash,pause --added 2
#
# The arguments are the number of tasks, a directory that all nodes see, and a command of lockstorm, which
# has to be in PATH on all nodes. A task that is killed with its node is queued again and continues. If
# another one fails, its log says why, and the same command line makes what is missing.
#SBATCH --job-name=lockstorm
#SBATCH --cpus-per-task=1
#SBATCH --mem=500M
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -eu

[ $# -gt 0 ] || set -- 8 lockstorm-results sweep restart-delay --runs 10000
tasks=$1 dir=$2
shift 2

case ${LOCKSTORM_STEP:-} in
shard)
	exec lockstorm "$@" --shard "auto/$tasks" --out "$dir/shards"
	;;
merge)
	[ "$1" = explore ] || set -- "$@" --out "$dir/merged"
	exec lockstorm "$@" --merge "$dir/shards"
	;;
esac

mkdir -p "$dir"
array=$(sbatch --parsable --export=ALL,LOCKSTORM_STEP=shard --array="1-$tasks" --output="$dir/shard-%a.log" "$0" "$tasks" "$dir" "$@")
merge=$(sbatch --parsable --export=ALL,LOCKSTORM_STEP=merge --dependency="afterok:$array" --output="$dir/merge.log" "$0" "$tasks" "$dir" "$@")
echo "array $array makes $tasks shards; job $merge joins them: $dir/merge.log"
