package redlock

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// decision is the outcome of a round.
type decision uint8

const (
	undecided decision = iota
	won                // a quorum said yes
	lost               // a quorum can no longer say yes
)

// tally counts the votes of one round. A copy of it does not change while the original counts
// on.
type tally struct {
	quorum   *env.Quorum
	yes, no  env.NodeSet
	failed   env.NodeSet // the command failed, or its reply was lost
	failures []env.Reply // the replies of the failed nodes
	highest  uint64      // the highest counter of all replies
}

func (t *tally) count(r env.Reply) {
	t.highest = max(t.highest, r.Count)
	switch r.Answer {
	case env.Yes:
		t.yes = t.yes.With(r.Node)
	case env.No:
		t.no = t.no.With(r.Node)
	default:
		t.failed = t.failed.With(r.Node)
		t.failures = append(t.failures, r)
	}
}

// decide returns the outcome as soon as it is certain: with 4 nodes, two against two is lost.
func (t *tally) decide() decision {
	switch {
	case t.quorum.Has(t.yes):
		return won
	case !t.quorum.Has(t.quorum.Voters &^ (t.no | t.failed)):
		return lost
	}
	return undecided
}

// denied reports whether so many nodes said no that no quorum can say yes, whatever the silent
// nodes hold.
func (t *tally) denied() bool { return !t.quorum.Has(t.quorum.Voters &^ t.no) }

// validUntil returns the end of validity of keys that were requested at t0. t0 is read before the
// first request is sent, so no key was set, and none expires, earlier than counted from t0.
func validUntil(t0 env.Instant, ttl, allowance time.Duration) env.Instant {
	return t0.Add(ttl - allowance)
}

// extendedUntil returns the end of validity after an extension that was requested at t0. Nodes
// never shorten the life of a key, so an extension does not either.
func extendedUntil(old, t0 env.Instant, ttl, allowance time.Duration) env.Instant {
	return max(old, validUntil(t0, ttl, allowance))
}

// retryDelay maps 64 random bits to a delay from lo to hi, both included.
func retryDelay(lo, hi time.Duration, random uint64) time.Duration {
	return lo + time.Duration(random%uint64(hi-lo+1))
}
