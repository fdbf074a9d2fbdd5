#!/bin/sh
#SBATCH --job-name=lockstorm
#SBATCH --array=1-100
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=2048M
#SBATCH --time=1440
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=lockstorm-%A_%a.log

# exec: Slurm sends SIGTERM to this process only, before the time is over. The worker then ends its
# shards, or gives them back.
exec lockstorm work --nats nats://ci:4222 --workers 1 --once
