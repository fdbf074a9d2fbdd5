package fuzz

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
	remaining                 // that was left at a grant
	leftKey                   // how much was left of the bound for keys of what was given up
	waiting                   // how much was left of the bound until somebody is granted a free lock
	measures
)

// guides says which measures tell something of which properties, and which are times that
// are compared by their shares of the TTL; the others are shares already, or counts. What
// else was tried led nowhere that is not found sooner by drawing anew: docs/evidence/hunt.md.
var guides = [measures]struct {
	timed bool
	to    []checker.Property
}{
	rivalVotes: {false, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	ownVotes:   {false, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	gap:        {true, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence}},
	remaining:  {true, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Contract}},
	leftKey:    {false, []checker.Property{checker.Cleanup, checker.DeadlockFreedom}},
	waiting:    {false, []checker.Property{checker.DeadlockFreedom}},
}

// far is what nothing was measured of.
const far = math.MaxInt64
