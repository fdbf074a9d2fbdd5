package redlock

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// This file is the algorithm without its messages: pure functions of votes and
// clock readings.

// decision is what the replies to one round amount to.
type decision uint8

const (
	undecided decision = iota
	won                // a quorum said yes
	lost               // a quorum can no longer say yes
)

// tally counts the replies to one round over all voters. A copy of it stays as it
// is while the original counts on.
type tally struct {
	quorum   *env.Quorum
	yes, no  env.NodeSet
	failed   env.NodeSet // or their answer is lost
	failures []env.Reply // theirs
	highest  uint64      // counter of all replies
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

// decide tells as soon as the outcome can no longer change: with 4 nodes, two
// against two is lost.
func (t *tally) decide() decision {
	switch {
	case t.quorum.Has(t.yes):
		return won
	case !t.quorum.Has(t.quorum.Voters &^ (t.no | t.failed)):
		return lost
	}
	return undecided
}

// denied reports whether so many nodes said no that a quorum of yes is
// impossible whatever the silent ones hold.
func (t *tally) denied() bool { return !t.quorum.Has(t.quorum.Voters &^ t.no) }

// validUntil is the end of validity of keys that were asked for at t0, before
// the first request was sent: no key can have been set, and so none can
// expire, earlier than that.
func validUntil(t0 env.Instant, ttl, allowance time.Duration) env.Instant {
	return t0.Add(ttl - allowance)
}

// extendedUntil is the end of validity after an extension that was asked for
// at t0. Nodes never shorten the life of a key, and so neither does an
// extension.
func extendedUntil(old, t0 env.Instant, ttl, allowance time.Duration) env.Instant {
	return max(old, validUntil(t0, ttl, allowance))
}

// retryDelay maps 64 random bits to a delay from lo to hi, both included.
func retryDelay(lo, hi time.Duration, random uint64) time.Duration {
	return lo + time.Duration(random%uint64(hi-lo+1))
}
