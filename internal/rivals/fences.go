package rivals

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Fences draws fences for Redlock out of counters on its nodes, in the two ways
// that come to mind first. Its methods are sources of fences as package redlock
// takes them, which has a third way of its own. They stop at the end of a call's
// patience, and not of its validity: the lock checks that afterwards.
type Fences struct {
	Runtime env.Runtime
	Nodes   env.Nodes

	// Quorum is that of the lock; the zero value: a majority of the nodes.
	Quorum env.Quorum

	// NodeTimeout is how long answers are waited for.
	NodeTimeout time.Duration
}

// counterKey names the counter of a resource. No lock may use it.
func counterKey(resource string) string { return resource + ":fences" }

// IncrementEverywhere increments the counters on all nodes, and takes the highest
// of the first quorum that answers. That does not grow, though no node ever
// forgets anything: the majorities {1,2,3}, {1,4,5} and {2,3,4} of five give 1, 2
// and 2. A quorum of nodes has counted more than another only where they meet.
func (f Fences) IncrementEverywhere(ctx context.Context, resource string, _ env.Instant) (uint64, error) {
	return f.increment(ctx, resource, f.Quorum.Among(f.Nodes.Len()))
}

// OneNode increments the counter on node 1. That grows as long as the node keeps
// it, and without the node there is no fence, and no lock.
func (f Fences) OneNode(ctx context.Context, resource string, _ env.Instant) (uint64, error) {
	return f.increment(ctx, resource, env.Quorum{Voters: env.SetOf(keeper)})
}

// increment returns the highest of the counters of the first quorum that answers.
func (f Fences) increment(ctx context.Context, resource string, quorum env.Quorum) (highest uint64, err error) {
	giveUp := f.Runtime.Now(env.Monotonic).Add(f.NodeTimeout)
	round := f.Nodes.Send(quorum.Voters, env.Command{Op: env.OpIncrement, Key: counterKey(resource)}, giveUp)
	for counted := env.NodeSet(0); !quorum.Has(counted); {
		reply, err := round.Next(ctx, giveUp)
		if err != nil {
			return 0, fmt.Errorf("%w: %d of %d counters: %w", ErrNoAnswer, counted.Len(), quorum.Voters.Len(), err)
		}
		if reply.Answer == env.Yes {
			counted = counted.With(reply.Node)
			highest = max(highest, reply.Count)
		}
	}
	return highest, nil
}
