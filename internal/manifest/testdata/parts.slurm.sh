#!/bin/sh
#SBATCH --job-name=delay
#SBATCH --array=1-3
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8192M
#SBATCH --time=90
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=delay-%A_%a.log

# As a task of an array this makes one part, and goes on with a part that was interrupted. exec: Slurm
# sends SIGTERM to this process only, before the time is over.
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
	mkdir -p -- runs/delay || exit
	exec lockstorm sweep restart-delay --runs 1000000 --parallel 4 --shard auto/3 --out runs/delay/part-"$SLURM_ARRAY_TASK_ID"
fi

# Otherwise this puts the parts together.
exec lockstorm merge --out runs/delay/merged runs/delay/part-1 runs/delay/part-2 runs/delay/part-3
