package main

import (
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// What stands here goes as soon as hunt.OfLock is there.

type anyGround struct{ scenario scenarios.Scenario }

func groundOf(kind string) (hunt.Ground, error) {
	s, err := scenarios.Find("calm")
	s.Lock.Kind = kind
	return anyGround{s}, err
}

func (g anyGround) Name() string { return "any" }

func (g anyGround) Draw(r *rand.Rand) scenarios.Scenario {
	const ms = time.Millisecond
	s := g.scenario
	s.Plan, s.Generate, s.Expect = nil, nil, nil
	pick := func(d ...time.Duration) time.Duration { return d[r.IntN(len(d))] }
	s.Nodes = 1 + r.IntN(5)
	s.Lock.TTL = pick(50*ms, 100*ms, 300*ms)
	s.Lock.DriftFactor = 0.01
	s.Lock.Margin = pick(0, 0, s.Lock.TTL/20)
	s.Lock.NodeTimeout = pick(5*ms, s.Lock.TTL/20, s.Lock.TTL/2, 2*s.Lock.TTL)
	s.Lock.Linger = 4 * s.Lock.NodeTimeout
	s.Lock.Retry = nemesis.Range{Min: ms / 2, Max: pick(ms, 5*ms, 20*ms)}
	var clients []scenarios.Client
	for range 2 + r.IntN(2) {
		c := s.Clients[0]
		c.Resource, c.Resources = "r", 0
		c.Work = nemesis.Range{Max: pick(s.Lock.TTL/10, s.Lock.TTL, 3*s.Lock.TTL)}
		c.Think = nemesis.Range{Max: pick(ms, s.Lock.TTL/10, s.Lock.TTL)}
		if r.IntN(2) == 0 {
			c.ExtendEvery = s.Lock.TTL / time.Duration(2+r.IntN(3))
		}
		c.Rounds = 1 + r.IntN(3)
		clients = append(clients, c)
	}
	s.Clients = clients
	s.Horizon = 12 * s.Lock.TTL
	s.Bounds.Acquire = 20 * s.Lock.NodeTimeout
	s.Bounds.Extend, s.Bounds.Release = s.Bounds.Acquire, s.Bounds.Acquire
	return s
}
