package storm

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/scenarios"
)

func redlockAllowance(l scenarios.Lock) time.Duration {
	return redlock.Allowance(l.TTL, l.DriftFactor)
}

func validateRedlock(l scenarios.Lock) error { return redlockConfig(l, 1).Validate() }

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

func newRedlock(l scenarios.Lock, p ports) (Lock, error) {
	config := redlockConfig(l, p.client)
	if source := fenceSources[l.Fence]; source != nil {
		config.FenceFrom = source(locks.Fences{Runtime: p.runtime, Nodes: p.nodes, Timeout: l.NodeTimeout})
	}
	mutex, err := redlock.New(config, p.runtime, p.nodes, p.observer)
	if err != nil {
		return nil, err
	}
	return redlockLock{mutex}, nil
}

type redlockLock struct{ *redlock.Mutex }

func (l redlockLock) Lock(ctx context.Context, resource string) (Hold, error) {
	hold, err := l.Mutex.Lock(ctx, resource)
	if err != nil {
		return nil, err
	}
	return hold, nil
}
