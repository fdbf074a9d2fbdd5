package storm

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/scenarios"
)

func redlockAllowance(l scenarios.Lock) time.Duration {
	return redlock.Allowance(l.TTL, l.DriftFactor)
}

func validateRedlock(l scenarios.Lock) error {
	c, err := redlockConfig(l, 1)
	if err != nil {
		return err
	}
	return c.Validate()
}

// tokens are the ways to make tokens, as scenarios name them.
var tokens = map[string]redlock.Tokens{"": redlock.RandomTokens, "random": redlock.RandomTokens, "time": redlock.TimeTokens}

// fenceSources are the ways to draw fences, as scenarios name them; nil is the
// lock's own.
var fenceSources = map[string]func(locks.Fences) redlock.FenceSource{
	"": nil, "quorum": nil,
	"increment": func(f locks.Fences) redlock.FenceSource { return f.IncrementEverywhere },
	"one-node":  func(f locks.Fences) redlock.FenceSource { return f.OneNode },
}

// redlockConfig is the configuration of one client's lock.
func redlockConfig(l scenarios.Lock, client int) (redlock.Config, error) {
	made, known := tokens[l.Tokens]
	if !known {
		return redlock.Config{}, &nemesis.FieldError{Path: "tokens", Err: fmt.Errorf("unknown way to make tokens %q: want random or time", l.Tokens)}
	}
	if _, known := fenceSources[l.Fence]; !known {
		return redlock.Config{}, &nemesis.FieldError{Path: "fence", Err: fmt.Errorf("unknown source of fences %q: want quorum, increment or one-node", l.Fence)}
	}
	return redlock.Config{
		TTL:         l.TTL,
		DriftFactor: l.DriftFactor,
		Clock:       l.ReadsClock(),
		Watchdog:    redlock.Watchdog{Every: l.Watchdog.Every, Limit: l.Watchdog.Limit},
		Quarantine:  l.Quarantine,
		Fence:       l.Fence != "",
		Sequential:  l.Sequential,
		Tokens:      made,
		Client:      fmt.Sprintf("client-%d", client),
		NodeTimeout: l.NodeTimeout,
		Linger:      l.Linger,
		Margin:      l.Margin,
		RetryMin:    l.Retry.Min,
		RetryMax:    l.Retry.Max,
		Tries:       l.Tries,
	}, nil
}

func newRedlock(l scenarios.Lock, p ports) (Lock, error) {
	config, err := redlockConfig(l, p.client)
	if err != nil {
		return nil, err
	}
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
