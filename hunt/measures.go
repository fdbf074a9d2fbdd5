package hunt

import (
	"math"

	"github.com/lockstorm/lockstorm/checker"
)

// measure is one of the ways in which a run can come close to a violation. Each has a
// scale of its own, on which less is closer.
type measure int

const (
	rivalVotes measure = iota // how many votes another token lacked of a quorum, while somebody held the lock
	ownVotes                  // how many votes a holder was left with
	gap                       // from the end of a hold that was not released to the next grant
	overstay                  // how much of the TTL was left when a section ended
	remaining                 // that was left at a grant
	lateWrite                 // how much of the TTL was left when a write was applied
	call                      // how much was left of the bound of a call
	leftKey                   // how much was left of the bound for keys of what was given up
	waiting                   // how much was left of the bound until somebody is granted a free lock
	refusals                  // how many tries were left of those within which one must succeed
	measures
)

// guides says which measures tell something of which properties, and how often one of
// them is gone by. Votes lead to a violation step by step; of the others most runs come
// as close as can be by chance.
var guides = [measures]struct {
	weight int
	to     []checker.Property
}{
	rivalVotes: {3, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	ownVotes:   {3, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	gap:        {1, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence}},
	overstay:   {1, []checker.Property{checker.Section, checker.Effect}},
	remaining:  {1, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Contract}},
	lateWrite:  {1, []checker.Property{checker.Effect}},
	call:       {1, []checker.Property{checker.Contract}},
	leftKey:    {1, []checker.Property{checker.Cleanup, checker.DeadlockFreedom}},
	waiting:    {1, []checker.Property{checker.DeadlockFreedom}},
	refusals:   {1, []checker.Property{checker.FaultTolerance, checker.DeadlockFreedom}},
}

// far is what nothing was measured of.
const far = math.MaxInt64
