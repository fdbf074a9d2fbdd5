package campaign

import "context"

// Job is what a campaign does, in the process that does it.
type Job interface {
	// Sum is a SHA-256 hash in hexadecimal digits of what the shards do: jobs of the same sum have
	// the same results.
	Sum() string

	Shards() int
	Runs() int // of all shards; 0: nobody knows

	// Run makes a shard, from 0 to Shards()-1. Its bytes depend on nothing but the job and the shard.
	Run(ctx context.Context, shard int) (Result, error)
}
