package campaign

import "context"

// Job is what a campaign does, in the process that does it.
type Job interface {
	// Sum is a SHA-256 hash in hexadecimal digits of what the shards do: jobs of the same sum have
	// the same results.
	Sum() string

	Shards() int
	Runs() int // of all shards; 0: nobody knows

	// Draws is from how many others a shard may draw, up to MaxDraws. 0: shards know nothing of others.
	Draws() int

	// Run makes a shard, from 0 to Shards()-1, that may draw from others. Its bytes depend on nothing
	// but the job, the shard and the others.
	Run(ctx context.Context, shard int, others []Other) (Result, error)
}
