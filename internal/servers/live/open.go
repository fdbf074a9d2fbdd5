package live

import (
	"context"
	"errors"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Open opens a world of a setting on a fleet with a server for each node. The setting must
// be valid and must not need faults that the handlers do not support; its sync is ignored
// because these disks are real, and so is its latency, unless the fleet has its own
// network. Pipelined connections are not supported. Events of the history go to sink one at
// a time. The world owns the fleet from now on, also after an error.
func Open(s nemesis.Setting, seed uint64, sink history.Sink, fleet Fleet, faults FaultHandlers) (*World, error) {
	w, err := newWorld(s, seed, sink, fleet, faults)
	if err != nil {
		return nil, errors.Join(err, fleet.Close())
	}
	return w, nil
}

func newWorld(s nemesis.Setting, seed uint64, sink history.Sink, fleet Fleet, faults FaultHandlers) (*World, error) {
	if s.Connections.Pipelined {
		return nil, errors.New("connections: pipelined is not supported on real servers (batched and limit are)")
	}
	network, err := fleet.network(s.Clients)
	if err != nil {
		return nil, err
	}
	w := &World{
		setting:    s,
		seed:       seed,
		fleet:      fleet,
		network:    network,
		resource:   resource{state: guard.New(s.Guard), rules: make([]world.Rules, s.Clients)},
		ground:     newGround(fleet.Runtime),
		calls:      world.NewCalls(s.Clients),
		broken:     make(chan error, 1),
		done:       make(chan struct{}),
		finished:   make([]bool, s.Clients),
		states:     make([]state, len(fleet.Servers)),
		recoveries: make([]recovery, len(fleet.Servers)),
		standing:   make([]int, s.Clients),
		dead:       make([]bool, s.Clients),
	}
	w.history = newRecorder(sink, w.ground)
	w.tapRequests()
	w.resource.record = w.history.worldEvent
	if fleet.Keys != nil {
		fleet.Keys(w.history.keyEvent)
	}
	w.clocks = world.NewClocks(clockWorld{w})
	for range fleet.Servers {
		w.walls = append(w.walls, w.ground.clock(env.Wall))
	}
	w.over, w.end = context.WithCancel(context.Background())
	w.injector = world.NewInjector(w, s.Plan, faults, w.history.worldEvent)
	w.links = world.NewLinks(s.Clients, s.Nodes, w.injector.Record)
	w.strikes = map[int]*world.Strikes{}
	w.plan = &planRunner{
		injector: w.injector, history: w.history, ground: w.ground, tasks: &w.tasks, probe: &w.probe, over: w.over,
		fail: w.fail, pause: w.recordPause, resume: w.recordResume,
		wake: make(chan struct{}, 1), scheduler: world.NewScheduler(s, w.injector),
	}
	if err := w.injector.Prepare(); err != nil {
		network.Close()
		return nil, err
	}
	if s.Store != nil && s.Store.KeepAlive > 0 {
		network.KeepAlive(s.Store.KeepAlive)
	}
	if fleet.Network != nil {
		w.setLatencies()
	}
	for number := 1; number <= s.Clients; number++ {
		c, err := newClient(number, seed, newClocks(w.ground), w.addrs(number), w.connect(number), fleet.Store, w.over, &w.tasks, w.fail)
		if err != nil {
			network.Close()
			return nil, err
		}
		w.clients, w.hosts = append(w.clients, c), append(w.hosts, localHost{c, w})
		w.history.hands = append(w.history.hands, c.clocks.hands)
	}
	return w, nil
}

// tapRequests makes the links of all clients notice what they send, if the lock is not of this program.
func (w *World) tapRequests() {
	if !w.fleet.External || !w.fleet.WatchKeys {
		return
	}
	w.history.requests = keywatch.NewRequests(w.history.elapsed)
	w.history.tries = w.history.requests
	for client := 1; client <= w.setting.Clients; client++ {
		for node := range w.fleet.Servers {
			w.network.Link(client, node+1).Rewrite(w.history.requests.Tap(client))
		}
	}
}

// OpenRedis opens a world on the servers of a fleet, which are [OwnServer]s for all nodes, followed by
// one for each node that the plan lets fail over: its replica. They reach each other on loopback. See
// [Open] for the rest.
func OpenRedis(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink, fleet Fleet, faults FaultHandlers) (*World, error) {
	if err := fleet.pair(ctx, s, seed); err != nil {
		return nil, errors.Join(err, fleet.Close())
	}
	return Open(s, seed, sink, fleet, faults)
}

// pair pairs the nodes that the plan lets fail over with their replicas.
func (f *Fleet) pair(ctx context.Context, s nemesis.Setting, seed uint64) error {
	failing := s.Plan.NodesThat(nemesis.PromotesReplica)
	if len(failing) == 0 {
		return nil
	}
	masters := make([]string, len(failing))
	for i, node := range failing {
		masters[i] = f.Servers[node-1].Addr()
	}
	streams, err := wire.Open(1, masters)
	if err != nil {
		return err
	}
	closing := f.Close
	f.Close = func() error { streams.Close(); return closing() }
	lag := (&nemesis.Latency{Add: *s.Replication}).Rule(Draws(seed, "replication"))
	for i, node := range failing {
		p := &pair{f.Servers[node-1].(OwnServer), f.Servers[s.Nodes+i].(OwnServer), streams.Link(1, i+1)}
		if err := p.follow(ctx); err != nil {
			return err
		}
		p.stream.Replies.Impose(replicationRule, lag)
		f.Servers[node-1] = p
	}
	f.Servers = f.Servers[:s.Nodes]
	return nil
}
