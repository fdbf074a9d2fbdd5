// Package shards divides a hunt into shards that can run anywhere, stores the result of each as
// bytes, and joins them.
//
//   - A [Division] makes one shard of a hunt: some of its runs, beginning with entries that others
//     have offered. The division, the shard and the entries determine the bytes of the result.
//   - A [Result] has the totals, the first runs that broke something, the entries that the shard
//     offers to others, and the log of those that it drew. With the results of the shards that
//     offered these, it can be repeated ([Division.Redraw]).
//   - A [Summary] is what some shards show together, in any grouping.
//   - A [Pool] keeps the best of the entries that are offered, and says which of them a shard draws.
//
// Whoever reads a result or an entry trusts nothing in it.
package shards
