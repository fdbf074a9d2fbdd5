package live

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// World is the place of one run on real servers. Clients are numbered from 1.
//
// A client's ports may be used before Run, to set a client up, and within Run's main
// functions and their tasks. They must not be used after Run.
type World struct {
	setting nemesis.Setting
	seed    uint64
	ground  ground

	fleet      Fleet
	network    *wire.Network
	clients    []*client    // from 0; if they are processes, only their clocks are used
	hosts      []clientHost // likewise
	resource   resource
	history    *recorder
	calls      *world.Calls
	tasks      taskGroup
	probe      probe
	clocks     *world.Clocks
	plan       *planRunner
	injector   *world.Injector // used under the lock of plan, as are links, states and the fields below
	links      *world.Links
	strikes    map[int]*world.Strikes // by number of the faults that strike once
	states     []state                // of the nodes' servers, from 0
	walls      []world.Clock          // of the nodes, from 0
	recoveries []recovery             // likewise
	watches    []*nodeWatch           // likewise; nil: keys are not watched
	standing   []int                  // by client, from 0: how many faults pause it
	dead       []bool                 // likewise

	over   context.Context // ends with the run
	end    context.CancelFunc
	broken chan error    // the first error that ends the run
	done   chan struct{} // closed when every client has returned or died

	mu       sync.Mutex
	finished []bool // the clients that have returned or died, from 0

	closing sync.Once
	err     error // of Close
}

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
	w.history.walls = slices.Clone(w.walls)
	w.over, w.end = context.WithCancel(context.Background())
	w.injector = world.NewInjector(w, s.Plan, faults, w.history.worldEvent)
	w.links = world.NewLinks(s.Clients, s.Nodes, w.injector.Record)
	w.strikes = map[int]*world.Strikes{}
	w.plan = newPlanRunner(w)
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

// connect returns the options for a client's connections. If the fleet has its own network,
// only that can dial.
func (w *World) connect(client int) redisnode.Options {
	connect := redisnode.Options{Runtime: w.fleet.Runtime}
	switch c := w.setting.Connections; {
	case c.Batched: // as the options have it
	case c.Limit > 0:
		connect.PoolSize, connect.MaxInFlight = c.Limit, c.Limit
	default: // each message is one request
		connect.MaxInFlight = math.MaxInt
	}
	if w.fleet.Network != nil {
		connect.Dial = w.network.Dialer(client)
	}
	return connect
}

// addrs returns the addresses at which a client finds the nodes, from 0.
func (w *World) addrs(client int) []string {
	addrs := make([]string, len(w.fleet.Servers))
	for i := range addrs {
		addrs[i] = w.network.Link(client, i+1).Addr()
	}
	return addrs
}

// state is the state of a node's server.
type state uint8

const (
	up      state = iota
	down          // not running
	stopped       // paused
)

func (w *World) client(number int) *client { return w.clients[number-1] }

func (w *World) host(client int) clientHost { return w.hosts[client-1] }

func (w *World) server(node int) Server { return w.fleet.Servers[node-1] }

// Runtime returns the client's runtime.
func (w *World) Runtime(client int) env.Runtime { return clientRuntime{w.client(client)} }

// Nodes returns the nodes as the client sees them.
func (w *World) Nodes(client int) env.Nodes { return clientNodes{w.client(client)} }

// Register returns the guarded resource as the client sees it. It is in this process: an
// access takes almost no time, and only guard-latency delays it.
func (w *World) Register(client int) env.Register {
	return clientRegister{localHost{w.client(client), w}}
}

// Store returns the store as the client sees it, or nil if there is none.
func (w *World) Store(client int) env.Store { return storeOf(w.client(client)) }

// storeName returns the name of the kind of store, or "".
func (w *World) storeName() string {
	if w.fleet.Store == nil {
		return ""
	}
	return w.fleet.Store.Name()
}

// Record stamps an event with the ground clock and adds it to the history. It does nothing
// before and after the run, and for a client that is dead.
func (w *World) Record(e history.Event) { w.history.clientEvent(justNow, e) }

// Reach reports that the client takes a step; k is the position of the reply at
// [env.StepReply]. Faults that wait for this step alone have begun or ended when Reach
// returns. A client that they pause or kill stays in Reach.
func (w *World) Reach(client int, step env.Step, k int) {
	c := w.client(client)
	c.gate.pass()
	w.plan.step(client, step, k)
	c.gate.pass()
}

// Watch asks for an event when the client's clock reaches until. It replaces an earlier
// request for the token.
func (w *World) Watch(client int, clock env.Clock, resource, token string, until env.Instant) {
	w.history.watch(justNow, client, watch{clock, resource, token, until})
}

// Unwatch cancels the Watch of a token, unless it has come due.
func (w *World) Unwatch(client int, token string) { w.history.unwatch(justNow, client, token) }

// Call returns the context of a call of the client's lock, and a function to call when it
// has returned. The context also ends with the run: a lock that does not use the ports
// learns of the end only from it.
func (w *World) Call(ctx context.Context, client int) (calling context.Context, returned func()) {
	ctx, cancel := context.WithCancel(ctx)
	withRun := context.AfterFunc(w.over, cancel)
	calling, done := w.calls.Begin(ctx, client)
	return calling, func() {
		done()
		withRun()
		cancel()
	}
}

// Trace returns false: runs cannot be repeated exactly.
func (w *World) Trace() (hash uint64, exact bool) { return 0, false }

// finish records that a client has returned or died.
func (w *World) finish(client int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.finished[client-1] {
		w.finished[client-1] = true
		if !slices.Contains(w.finished, false) {
			close(w.done)
		}
	}
}

// check ends the run if err is not nil.
func (w *World) check(err error) {
	if err != nil {
		w.fail(err)
	}
}

// fail ends the run with an error. Only the first one counts.
func (w *World) fail(err error) {
	select {
	case w.broken <- err:
	default:
	}
}

// Close stops the servers and releases everything that the world uses. It must not be
// called during Run. A second Close returns the same error.
func (w *World) Close() error {
	w.closing.Do(func() {
		w.end()
		err := w.closeNodes()
		w.network.Close()
		w.err = errors.Join(err, w.fleet.Close())
	})
	return w.err
}

func (w *World) closeNodes() error {
	var errs []error
	for _, c := range w.clients {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// unwindTimeout bounds how long the clients' goroutines may take to end after the run. Each
// ends at its next call of a port.
const unwindTimeout = 10 * time.Second

// errRunTwice is the error of a second Run.
var errRunTwice = errors.New("a world runs once")

// Run runs main for every client and carries out the plan. It returns when all clients have
// returned or died, at the horizon, or when ctx ends (with its error), and ends the
// history. By then all goroutines of the clients have ended; those that had not returned
// end at their next call of a port, running their deferred functions.
//
// Any other error means that a fault could not be injected, a server died by itself, a
// client panicked, or a goroutine does not end.
func (w *World) Run(ctx context.Context, main func(client int)) error {
	return w.run(ctx, func() {
		for _, c := range w.clients {
			w.tasks.start(c.taskName("main"), func() {
				defer w.finish(c.number)
				c.gate.pass()
				main(c.number)
			}, w.fail)
		}
	})
}

// run is a run in which launch starts the clients.
func (w *World) run(ctx context.Context, launch func()) error {
	w.watchKeys(ctx)
	if !w.history.begin() {
		return errRunTwice
	}
	if _, err := w.plan.advance(); err != nil { // faults that begin with the run
		return errors.Join(err, w.unwind(world.End(ctx, err)))
	}
	horizon := time.NewTimer(w.setting.Horizon)
	defer horizon.Stop()
	w.tasks.start("probe", func() { w.probe.run(w.over, w.ground.machine) }, w.fail)
	w.tasks.start("nemesis", w.plan.run, w.fail)
	if w.fleet.Watch != nil {
		w.tasks.start("watch", func() { w.fleet.Watch(w.over, entryLog{recorder: w.history}) }, w.fail)
	}
	launch()
	var err error
	select {
	case <-w.done:
		w.lastLook()
	case <-horizon.C:
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-w.broken:
	case err = <-w.fleet.Died:
	}
	if err == nil {
		err = w.failure()
	}
	return errors.Join(err, w.unwind(world.End(ctx, err)))
}

// failure returns an error that occurred at the same time as the end of the run.
func (w *World) failure() error {
	select {
	case err := <-w.broken:
		return err
	case err := <-w.fleet.Died:
		return err
	default:
		return nil
	}
}

// unwind ends the history and waits until all goroutines have ended. Connections are closed
// because a client may be waiting for a reply.
func (w *World) unwind(end *history.Event) error {
	w.history.seal(end)
	for _, b := range w.hosts {
		b.leave()
	}
	w.history.flush()
	w.end()
	return errors.Join(w.closeNodes(), w.tasks.wait(unwindTimeout))
}
