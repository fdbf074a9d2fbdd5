// Package campaign spreads work over many processes and machines: shards are queued, delivered at
// least once, and their results are stored once. It knows nothing of what a shard does.
//
// The engine is NATS JetStream: embedded in this process, or a cluster of the user's. A campaign has
// there
//
//   - a line in the bucket of all campaigns: its [Spec] and whether it is stopped;
//   - a stream with a message for each shard that is to be done, in a queue for each [Build];
//   - a key-value bucket with a [Record] of each result, the failures of shards, and those that were
//     set aside;
//   - a [Bucket] with the results themselves, by the hash of their bytes.
//
// A result is created once: the first one counts. A second one of the same shard must have the same
// bytes. If it does not, both are kept, and it is reported as a [Conflict], because the same build
// must return the same bytes for the same shard on any machine.
package campaign
