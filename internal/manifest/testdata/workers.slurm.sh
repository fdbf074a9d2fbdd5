#!/bin/sh
#SBATCH --job-name=delay
#SBATCH --array=1-8
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8192M
#SBATCH --time=90
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=delay-%A_%a.log

# exec: Slurm sends SIGTERM to this process only, before the time is over. The worker then ends its
# shards, or gives them back.
exec lockstorm work --nats tls://nats-1:4222,tls://nats-2:4222 --creds ci.creds --tls-ca ca.pem --campaign sweep-0a1b2c3d --workers 4 --once
