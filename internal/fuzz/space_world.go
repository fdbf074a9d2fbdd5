package fuzz

import (
	"time"

	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// drawNetwork draws latencies between nothing to speak of and what takes a part of the
// TTL away; now and then more than that, where a grant should be rare.
func drawNetwork(d dice, s *scenarios.Scenario) {
	ttl := s.Lock.TTL
	longest := max(ttl/one(d, time.Duration(1000), 1000, 1000, 500, 500, 200, 200, 100, 100, 50, 30, 20, 10, 5), 10*time.Microsecond)
	if d.chance(2) {
		longest = ttl * 5 / 4
	}
	s.Latency.Range = upTo(longest)
	switch d.IntN(4) {
	case 0:
		s.Latency.Min = longest
	case 1:
		s.Latency.Min = longest / 2
	}
	if longest <= ttl/50 { // who waits for a connection waits for its answers
		switch d.IntN(8) {
		case 0:
			s.Connections.Limit = 1 + d.IntN(3)
		case 1, 2:
			s.Connections.Pipelined = true
		case 3, 4, 5:
			s.Connections.Batched = true
		}
	}
	if d.chance(12) {
		drawFar(d, s)
	}
	if d.chance(10) {
		s.GuardLatency = &nemesis.Distribution{Range: d.within(0, ttl/4)}
	}
}

// drawFar puts a node far from everybody, by ways that are long now and then: what is sent
// there is overtaken by what is sent later, when all others have answered.
func drawFar(d dice, s *scenarios.Scenario) {
	far := min(s.Latency.Max*one(d, time.Duration(5), 10, 20), max(s.Lock.TTL/100, s.Latency.Max))
	links := nemesis.Links{Nodes: []int{1 + d.IntN(s.Nodes)}}
	s.Links = []nemesis.LinkLatency{{Links: links, Latency: nemesis.Distribution{Range: upTo(far)}}}
}

func drawDisks(d dice, s *scenarios.Scenario) {
	s.Persistence = one(d, nemesis.Nothing, nemesis.Nothing, nemesis.EverySecond, nemesis.Always, nemesis.Always)
	if s.Persistence == nemesis.Always && d.chance(30) {
		s.Sync = &nemesis.Distribution{Range: upTo(s.Latency.Max / 10)}
	}
	if d.chance(10) {
		s.Replication = &nemesis.Distribution{Range: upTo(s.Lock.TTL / one(d, time.Duration(100), 10, 2))}
	}
}

func drawStore(d dice, s *scenarios.Scenario) {
	ttl := s.Lock.TTL
	s.Store = &nemesis.Store{
		Election:     nemesis.Distribution{Range: d.within(ttl/50, ttl/2)},
		Commit:       nemesis.Distribution{Range: d.within(0, s.Latency.Max)},
		Asynchronous: s.Lock.Kind == "database-row" && d.chance(20),
	}
}

func drawGuard(d dice, s *scenarios.Scenario) {
	s.Guard = one(d, guard.Plain, guard.Plain, guard.Plain, guard.Fenced, guard.Fenced, guard.FencedWrites, guard.Token)
}

// drawCamps makes each client near to nodes of its own and far from the others, all by
// the same: clients that begin at once then split the votes, and do so again if they
// wait for equally long.
func drawCamps(d dice, s *scenarios.Scenario) {
	if len(s.Clients) < 2 || s.Nodes < 2 || len(s.Links) > 0 || !d.chance(12) {
		return
	}
	far := s.Latency.Max
	s.Latency.Range = exactly(far)
	first := d.IntN(len(s.Clients))
	for node := 1; node <= s.Nodes; node++ {
		near := nemesis.Links{Clients: []int{1 + (first+node)%len(s.Clients)}, Nodes: []int{node}}
		s.Links = append(s.Links, nemesis.LinkLatency{Links: near, Latency: nemesis.Distribution{Range: exactly(far / 4)}})
	}
	for i := range s.Clients {
		s.Clients[i].Start = nemesis.Range{}
	}
}
