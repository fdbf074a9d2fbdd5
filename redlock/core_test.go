package redlock

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
)

// The validity of a TTL ends before the key does, by an allowance that is rounded against the holder.
func TestValidity(t *testing.T) {
	for _, c := range []struct {
		ttl             time.Duration
		drift           float64
		t0              time.Duration
		allowance, want time.Duration
	}{
		{10 * time.Second, 0.01, 5 * time.Second, 102 * time.Millisecond, 14898 * time.Millisecond},
		{time.Second, 0, 0, 2 * time.Millisecond, 998 * time.Millisecond},
		{100 * time.Millisecond, 0.2, time.Millisecond, 22 * time.Millisecond, 79 * time.Millisecond},
		{time.Second, 1e-10, 0, 2*time.Millisecond + 1, 998*time.Millisecond - 1},
	} {
		allowance := Allowance(c.ttl, c.drift)
		if until := time.Duration(validUntil(env.Instant(c.t0), c.ttl, allowance)); allowance != c.allowance || until != c.want {
			t.Errorf("%v with drift %v from %v: allowance %v, valid until %v", c.ttl, c.drift, c.t0, allowance, until)
		}
	}
}

// drawQuorum draws one of up to so many nodes, weighted or not.
func drawQuorum(t *rapid.T, most int) *env.Quorum {
	n := rapid.IntRange(1, most).Draw(t, "nodes")
	q := env.Majority(n)
	if rapid.Bool().Draw(t, "weighted") {
		q.Weights = rapid.SliceOfN(rapid.IntRange(1, 5), n, n).Draw(t, "weights")
	}
	return &q
}

// Law: two disjoint sets of nodes never both win, and after the replies of all nodes there is a
// decision.
func TestQuorumsIntersect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuorum(t, env.MaxNodes)
		one, other := tally{quorum: q}, tally{quorum: q}
		for _, node := range q.Voters.List() {
			switch rapid.SampledFrom([]string{"one", "other", "neither"}).Draw(t, "vote") {
			case "one":
				one.count(env.Reply{Node: node, Answer: env.Yes})
				other.count(env.Reply{Node: node, Answer: env.No})
			case "other":
				one.count(env.Reply{Node: node, Answer: env.No})
				other.count(env.Reply{Node: node, Answer: env.Yes})
			default:
				one.count(env.Reply{Node: node, Answer: env.Lost})
				other.count(env.Reply{Node: node, Answer: env.Failed})
			}
		}
		if one.decide() == undecided || other.decide() == undecided {
			t.Fatalf("%+v: all were heard of, and nothing is decided", q)
		}
		if one.decide() == won && other.decide() == won {
			t.Fatalf("%+v: two quorums", q)
		}
	})
}

// Law: a decision falls as soon as it can, and not before: it is the outcome in
// whatever way the nodes that are still silent will answer.
func TestDecisionsFallAsSoonAsTheyCan(t *testing.T) {
	replies := rapid.SampledFrom([]env.Answer{0, env.Yes, env.No, env.Failed, env.Lost})
	rapid.Check(t, func(t *rapid.T) {
		votes := tally{quorum: drawQuorum(t, 7)}
		silent := votes.quorum.Voters
		for _, node := range silent.List() {
			if answer := replies.Draw(t, "answer"); answer != 0 {
				votes.count(env.Reply{Node: node, Answer: answer})
				silent = silent.Without(node)
			}
		}
		outcomes := map[decision]bool{}
		for agree := range env.AllNodes(7) + 1 {
			outcomes[votes.and(silent&agree, silent&^agree).decide()] = true
		}
		want := undecided
		if len(outcomes) == 1 {
			want = votes.and(silent, 0).decide()
		}
		if got := votes.decide(); got != want || outcomes[undecided] {
			t.Fatalf("%+v, of which %v are silent: %v, and the outcomes can be %v", votes, silent.List(), got, outcomes)
		}
	})
}

// and returns the tally when these have answered too.
func (t tally) and(yes, no env.NodeSet) *tally {
	t.yes, t.no = t.yes|yes, t.no|no
	return &t
}

// Law: every delay within the bounds is as likely as any other.
func TestRetryDelaysAreSpread(t *testing.T) {
	seen := map[time.Duration]int{}
	for bits := range uint64(4000) {
		seen[retryDelay(10, 13, bits*0x9e3779b97f4a7c15)]++
	}
	for d := time.Duration(10); d <= 13; d++ {
		if seen[d] < 900 || seen[d] > 1100 {
			t.Errorf("%d of 4000 delays are %v", seen[d], d)
		}
	}
}

func TestImpossibleSettings(t *testing.T) {
	change := func(f func(*Config)) Config {
		c := Defaults(time.Second)
		f(&c)
		return c
	}
	cases := map[string]Config{
		"TTL 999µs: want at least 1ms":       change(func(c *Config) { c.TTL = 999 * time.Microsecond }),
		"TTL 0s: want at least 1ms":          change(func(c *Config) { c.TTL = 0 }),
		"TTL 2.5ms: want whole milliseconds": change(func(c *Config) { c.TTL = 2500 * time.Microsecond }),
		"leaves nothing of it":               change(func(c *Config) { c.TTL = 2 * time.Millisecond }),
		"drift factor -1":                    change(func(c *Config) { c.DriftFactor = -1 }),
		"node timeout 0s":                    change(func(c *Config) { c.NodeTimeout = 0 }),
		"margin 1s":                          change(func(c *Config) { c.Margin = time.Second }),
		"retry delay from 2s to 1s":          change(func(c *Config) { c.RetryMin, c.RetryMax = 2*time.Second, time.Second }),
		"-1 tries":                           change(func(c *Config) { c.Tries = -1 }),
	}
	for want, c := range cases {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", c, err, want)
		}
	}
	if err := Defaults(time.Second).Validate(); err != nil {
		t.Error(err)
	}
}
