package memory

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend opens worlds on nodes in memory.
type Backend struct{}

// handlers lists how each kind of fault is injected.
var handlers = slices.Concat(live.Anywhere(nemesis.NodeClockFeature), live.Outages(), live.PowerLosses(nemesis.TornLoadFeature), live.Stops(), live.Commands(), live.Duplicates())

// Ability says which faults its worlds can inject.
func (Backend) Ability() nemesis.Ability {
	return nemesis.Ability{Name: "memory", Kinds: handlers.Kinds(), Features: handlers.Features()}
}

// Keys says that its worlds record every change of the nodes' keys.
func (Backend) Keys() bool { return true }

// Open opens a world on nodes in memory. The setting must be valid and must not need other
// faults than those of its [Backend.Ability]. The network has the latency of the
// setting; its sync is ignored, because there is no disk. Events of the history go to sink
// one at a time.
func (Backend) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	emptyPools()
	m := newRuntime()
	var nodes []*node
	var hosts []wire.Host
	for number := 1; number <= s.Nodes; number++ {
		n := newNode(m, number, s.Persistence != nemesis.Nothing)
		if err := n.Start(ctx); err != nil {
			return nil, errors.Join(err, stopAll(nodes))
		}
		nodes, hosts = append(nodes, n), append(hosts, n)
	}
	fleet := live.NewFleet(nodes, nil, func() error { return stopAll(nodes) })
	fleet.Runtime = m
	fleet.Keys = func(tell func(history.Event, env.Instant)) {
		for _, n := range nodes {
			n.keys.tell = tell
		}
	}
	fleet.Network = func(clients int) *wire.Network { return wire.OpenInMemory(clients, hosts) }
	return live.Open(s, seed, sink, fleet, handlers)
}

// emptyPools empties the sync.Pools of all packages, which takes two collections. go-redis
// pools timers, and a timer from one synctest bubble crashes the program when it is used
// in the next.
func emptyPools() {
	runtime.GC()
	runtime.GC()
}

// stopAll stops nodes for good.
func stopAll(nodes []*node) error {
	for _, n := range nodes {
		n.Kill()
		n.keys.expiryTimer.Stop()
	}
	return nil
}
