package storm

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/scenarios"
)

func redlockAllowance(l scenarios.Lock) time.Duration {
	return redlock.Allowance(l.TTL, l.DriftFactor)
}

// tokens are the ways to make tokens, as scenarios name them: which names there are
// is in the tag of the scenario's field, and checked by it.
var tokens = map[string]redlock.Tokens{"": redlock.RandomTokens, "random": redlock.RandomTokens, "time": redlock.TimeTokens}

// fenceSources are the ways to draw fences, as scenarios name them likewise; nil is
// the lock's own.
var fenceSources = map[string]func(locks.Fences) redlock.FenceSource{
	"": nil, "quorum": nil,
	"increment": func(f locks.Fences) redlock.FenceSource { return f.IncrementEverywhere },
	"one-node":  func(f locks.Fences) redlock.FenceSource { return f.OneNode },
}

// redlockConfig is the configuration of one client's lock.
func redlockConfig(l scenarios.Lock, client int) redlock.Config {
	return redlock.Config{
		TTL:         l.TTL,
		DriftFactor: l.DriftFactor,
		Clock:       l.ReadsClock(),
		Watchdog:    redlock.Watchdog{Every: l.Watchdog.Every, Limit: l.Watchdog.Limit},
		Quarantine:  l.Quarantine,
		Fence:       l.Fence != "",
		Sequential:  l.Sequential,
		Tokens:      tokens[l.Tokens],
		Client:      fmt.Sprintf("client-%d", client),
		NodeTimeout: l.NodeTimeout,
		Linger:      l.Linger,
		Margin:      l.Margin,
		RetryMin:    l.Retry.Min,
		RetryMax:    l.Retry.Max,
		Tries:       l.Tries,
	}
}

// redlockFields are the names, in a file, of the fields of a lock that Redlock and
// its variants read.
const redlockFields = "linger watchdog quarantine fence sequential tokens"

// redlockKind is Redlock, or a variant of it that adjusts the configuration as the
// lock's further fields say; nil: it does not.
func redlockKind(name, what, fields string, adjust func(scenarios.Lock, *redlock.Config)) lockKind {
	config := func(l scenarios.Lock, client int) redlock.Config {
		c := redlockConfig(l, client)
		if adjust != nil {
			adjust(l, &c)
		}
		return c
	}
	return lockKind{
		name: name, what: what, fields: redlockFields + " " + fields,
		quorum:    func(l scenarios.Lock, nodes int) env.Quorum { return config(l, 1).Quorum.Among(nodes) },
		allowance: redlockAllowance,
		validate: func(s scenarios.Scenario) error {
			c := config(s.Lock, 1)
			return cmp.Or(c.Validate(), c.Quorum.Validate(s.Nodes))
		},
		build: func(l scenarios.Lock, p ports) (Lock, error) { return newRedlock(l, config(l, p.client), p) },
	}
}

func newRedlock(l scenarios.Lock, config redlock.Config, p ports) (Lock, error) {
	if source := fenceSources[l.Fence]; source != nil {
		config.FenceFrom = source(locks.Fences{Runtime: p.runtime, Nodes: p.nodes, Quorum: config.Quorum, NodeTimeout: config.NodeTimeout})
	}
	mutex, err := redlock.New(config, p.runtime, p.nodes, p.observer)
	return adapter[*redlock.Hold]{mutex}, err
}
