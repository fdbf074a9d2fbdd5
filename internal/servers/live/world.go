package live

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
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

	over    context.Context // ends with the run
	end     context.CancelFunc
	abandon func()        // ends calls of locks that go on after the run; nil: nothing does
	broken  chan error    // the first error that ends the run
	done    chan struct{} // closed when every client has returned or died

	mu       sync.Mutex
	finished []bool // the clients that have returned or died, from 0

	closing sync.Once
	err     error // of Close
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

// recovery says how a server that is down starts again.
type recovery struct {
	left     string    // which keys it still has, for the report
	state    time.Time // to which a vm-restore restores the machine
	promoted *pair     // the second master during a split brain
	dark     int       // number of the fault that cut the machine's power, or 0
	fault    int       // number of the fault that the machine ends itself; 0: the plan ends it
	at       int64     // restart time on the node's wall clock, if the machine restarts it

	ending *slowEnding // the restart in progress, or nil
}

const (
	up      state = iota
	down          // not running
	stopped       // paused
)

func (w *World) client(number int) *client { return w.clients[number-1] }

func (w *World) host(client int) clientHost { return w.hosts[client-1] }

func (w *World) server(node int) Server { return w.fleet.Servers[node-1] }

// keyWatch returns the watch of a node's keys; nil: they are not watched.
func (w *World) keyWatch(node int) *nodeWatch {
	if len(w.watches) == 0 {
		return nil
	}
	return w.watches[node-1]
}

// storeName returns the name of the kind of store, or "".
func (w *World) storeName() string {
	if w.fleet.Store == nil {
		return ""
	}
	return w.fleet.Store.Name()
}

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

// Wall reads the wall clock of a client's machine, also while the client is paused and after the run.
func (w *World) Wall(client int) time.Time {
	return time.Unix(0, int64(w.client(client).clocks.now(env.Wall)))
}
