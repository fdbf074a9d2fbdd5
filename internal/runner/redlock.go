package runner

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/scenarios"
)

// allowance is the part of a TTL that a lock reserves for clock error. All locks compute
// it as Redlock does.
func allowance(ttl time.Duration, l scenarios.Lock) time.Duration {
	return redlock.Allowance(ttl, l.DriftFactor)
}

// tokens maps a scenario's names for token generators, which a tag of the scenario's field
// validates; nil is the lock's own.
var tokens = map[string]func(env.Runtime, string) func() string{"": nil, "random": nil, "time": rivals.TimeTokens}

// fenceSources maps a scenario's names for fence sources; nil is the lock's own source.
var fenceSources = map[string]func(rivals.Fences) redlock.FenceSource{
	"": nil, "quorum": nil,
	"increment": func(f rivals.Fences) redlock.FenceSource { return f.IncrementEverywhere },
	"one-node":  func(f rivals.Fences) redlock.FenceSource { return f.OneNode },
}

// redlockSetup is the configuration of a Redlock, and what it is built on.
type redlockSetup struct {
	redlock.Config
	wallClock  bool   // validity is counted on the wall clock
	sequential bool   // nodes are asked one after another
	tokens     string // see tokens
	source     string // of fences, see fenceSources
}

func redlockConfig(l scenarios.Lock) redlockSetup {
	wall := l.ReadsClock() == env.Wall
	return redlockSetup{wallClock: wall, sequential: l.Sequential, tokens: l.Tokens, source: l.Fence, Config: redlock.Config{
		TTL:         l.TTL,
		DriftFactor: l.DriftFactor,
		Clock:       lockClock(l.ReadsClock()),
		Watchdog:    redlock.Watchdog{Every: l.Watchdog.Every, Limit: l.Watchdog.Limit},
		Quarantine:  l.Quarantine,
		Fence:       l.Fence != "",
		NodeTimeout: l.NodeTimeout,
		Linger:      l.Linger,
		Margin:      l.Margin,
		RetryMin:    l.Retry.Min,
		RetryMax:    l.Retry.Max,
		Tries:       l.Tries,

		NativeCommands: l.NativeCommands,
	}}
}

// lockClock returns the clock that Redlock reads. It does not accept the wall clock, so that
// takes the place of boottime, see [rivals.OnWallClock].
func lockClock(c env.Clock) env.Clock {
	if c == env.Wall {
		return env.Boottime
	}
	return c
}

// redlockFields are the YAML fields of a lock that only Redlock and its variants read.
const redlockFields = "linger watchdog quarantine fence sequential native_commands tokens"

// redlockKind returns Redlock, or a variant whose configuration adjust changes.
func redlockKind(name, what, fields string, adjust func(scenarios.Lock, *redlock.Config)) lockKind {
	config := func(l scenarios.Lock) redlockSetup {
		c := redlockConfig(l)
		if adjust != nil {
			adjust(l, &c.Config)
		}
		return c
	}
	return withBuilder(lockKind{
		name: name, what: what, fields: redlockFields + " " + fields,
		quorum: func(l scenarios.Lock) env.Quorum { return config(l).Quorum },
	}, config, newRedlock)
}

func clientName(number int) string { return fmt.Sprintf("client-%d", number) }

func newRedlock(c redlockSetup, p ports) (Lock, error) {
	if source := tokens[c.tokens]; source != nil {
		c.NewToken = source(p.runtime, clientName(p.client))
	}
	if source := fenceSources[c.source]; source != nil {
		c.FenceFrom = source(rivals.Fences{Runtime: p.runtime, Nodes: p.nodes, Quorum: c.Quorum, NodeTimeout: c.NodeTimeout})
	}
	if c.wallClock {
		p.runtime = rivals.OnWallClock(p.runtime)
	}
	if c.sequential {
		p.nodes = &rivals.Sequential{Nodes: p.nodes, Runtime: p.runtime, Timeout: c.NodeTimeout}
		c.NodeTimeout *= time.Duration(c.Quorum.Among(p.nodes.Len()).Voters.Len())
	}
	mutex, err := redlock.New(c.Config, p.runtime, p.nodes, p.observer)
	return adapter[*redlock.Hold]{mutex}, err
}
