package fuzz

import (
	"time"

	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// allWorkloads are what clients do, those more often that show more.
var allWorkloads = []string{"hold", "hold", "hold", "section", "section", "section", "section", "checked", "posted", "misuse"}

// drawClients draws the users of a lock in a world, who do some of these workloads: all
// alike, or one that holds for long and others that want it meanwhile.
func drawClients(d dice, s scenarios.Scenario, n int, workloads []string) []scenarios.Client {
	clients := make([]scenarios.Client, n)
	likeFirst := d.chance(40)
	resources := 0
	if d.chance(6) {
		resources = 2
	}
	fences := s.Lock.Fence == "" && (s.Guard == guard.Fenced || s.Guard == guard.FencedWrites) && d.chance(70)
	for i := range clients {
		c := drawClient(d, s.Lock.TTL, one(d, workloads...))
		if likeFirst && i > 0 {
			c = clients[0]
		}
		c.Resource, c.Resources, c.Fence = "r", resources, fences
		clients[i] = c
	}
	if !likeFirst && n > 1 {
		drawHolder(d, s.Lock.TTL, clients)
	}
	return clients
}

// drawHolder makes the first client one that has the lock and keeps it, and lets the
// others come later.
func drawHolder(d dice, ttl time.Duration, clients []scenarios.Client) {
	clients[0].Start = nemesis.Range{}
	clients[0].Rounds = 1
	clients[0].Work = d.within(ttl/2, 2*ttl)
	for i := range clients[1:] {
		c := &clients[1+i]
		c.Start = d.within(ttl/100, ttl)
		c.Work = upTo(ttl / one(d, time.Duration(50), 10, 3))
	}
}

func drawClient(d dice, ttl time.Duration, workload string) scenarios.Client {
	c := scenarios.Client{Workload: workload, Rounds: one(d, 1, 1, 2, 2, 3)}
	if d.chance(60) {
		c.Start = d.within(0, ttl/one(d, time.Duration(20), 2, 1))
	}
	switch d.IntN(6) {
	case 0: // so short that requests are under way when it is over
	case 1, 2:
		c.Work = d.within(ttl/100, ttl/5)
	case 3:
		c.Work = d.within(ttl/2, ttl)
	case 4:
		c.Work = d.within(ttl*9/10, ttl*11/10)
	default:
		c.Work = d.within(ttl, 5*ttl/2)
	}
	if d.chance(60) {
		c.Think = d.within(0, ttl/one(d, time.Duration(50), 5, 1))
	}
	if d.chance(35) {
		drawExtensions(d, ttl, &c)
	}
	return c
}

// drawExtensions lets a client extend while it works, sometimes by more than the lock's
// own TTL, by less, or by what cannot be.
func drawExtensions(d dice, ttl time.Duration, c *scenarios.Client) {
	c.ExtendEvery = d.between(ttl/10, ttl/one(d, time.Duration(3), 2, 1))
	if d.chance(10) {
		c.ExtendEvery = d.between(ttl, ttl*3/2)
	}
	if d.chance(50) { // there has to be time for it
		c.Work = d.within(2*c.ExtendEvery, max(4*c.ExtendEvery, 2*ttl))
	}
	if d.chance(20) { // and then releases while the last nodes have still to hear of it
		c.Work = d.within(c.ExtendEvery+time.Microsecond, c.ExtendEvery+ttl/100)
	}
	switch d.IntN(8) {
	case 0, 1:
		c.ExtendTTL = d.within(ttl, 4*ttl)
	case 2:
		c.ExtendTTL = d.within(ttl/5, ttl)
	case 3:
		c.ExtendTTL = nemesis.Range{Min: 1, Max: ms - 1}
	}
}
