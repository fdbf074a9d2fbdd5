package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// World is one simulated world. It is used by one goroutine.
type World struct {
	setting nemesis.Setting
	seed    uint64
	sink    history.Sink
	group   *history.Group // the sink, if it is one
	event   history.Event  // see place

	now    int64 // ground time, ns
	limits limits
	queue  queue
	trace  trace

	running  int // living clients whose main task has not returned
	nodes    []node
	keyNames keyNames
	clients  []*client
	network  network
	store    *ensemble // nil: there is none
	guard    *guard.Guard

	scheduler *world.Scheduler
	injector  *world.Injector
	links     *world.Links
	strikes   map[int]*world.Strikes // by number of the faults that strike once
	faultAt   int64                  // ground time of the earliest faultDue in the queue
	clocks    *world.Clocks

	activities []*activity // by their numbers
	ready      []*activity // those that act at this instant, in their order
	idle       []*activity
	current    *coroutine // whose code runs

	newActivities block[activity]
	tasks         block[task]
	rounds        block[round]
	delayed       arena[delayedAction]
	calls         arena[call]
	leaseExpiries *world.LeaseExpiries

	nextExpiry int64 // ground time before which no key expires

	underWay *world.Calls // of the clients' locks

	sends    int32 // of all clients so far
	executes func(node, send int)
	restored func(node int, key, token string, expiry int64, ends history.Time)
	counted  func(node int, key string, number uint64)

	driver choice.Driver // nil: everything follows from the seed
	few    *few          // nil: points have 2⁶⁴ ways

	sealed bool
	err    error
}

// smallWorld is how many timers, messages and activities most worlds have at a time.
const smallWorld = 32

// Open builds the world of a setting, which must be valid and ask for no other
// faults than [Faults] and [Features]. Everything random in it follows from the
// seed; its history goes to sink.
func Open(_ context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*World, error) {
	w := &World{setting: s, seed: seed, sink: sink, guard: guard.New(s.Guard), strikes: map[int]*world.Strikes{}, faultAt: math.MaxInt64, nextExpiry: math.MaxInt64}
	w.group, _ = sink.(*history.Group)
	w.leaseExpiries = world.NewLeaseExpiries(w.expiryTime, w.write)
	w.queue = queue{timers: make(heap, 0, smallWorld), others: make(heap, 0, smallWorld)}
	w.activities, w.idle, w.ready = make([]*activity, 0, smallWorld), make([]*activity, 0, smallWorld), make([]*activity, 0, smallWorld)
	w.keyNames.numbers = map[string]int32{}
	w.limits = newLimits(s)
	w.network = newNetwork(s, seed)
	w.store = w.newEnsemble(s)
	w.injector = world.NewInjector(w, s.Plan, faultHandlers, w.Record)
	w.underWay = world.NewCalls(s.Clients)
	w.clocks = world.NewClocks(clockWorld{w})
	w.links = world.NewLinks(s.Clients, s.Nodes, w.injector.Record)
	w.scheduler = world.NewScheduler(s, w.injector)
	for n := 1; n <= s.Nodes; n++ {
		w.nodes = append(w.nodes, w.newNode(n))
	}
	for c := 1; c <= s.Clients; c++ {
		w.clients = append(w.clients, newClient(w, c))
	}
	if err := w.injector.Prepare(); err != nil {
		return nil, err
	}
	return w, nil
}

// Runtime returns the client's runtime.
func (w *World) Runtime(client int) env.Runtime { return w.client(client) }

// Nodes returns the nodes as the client sees them.
func (w *World) Nodes(client int) env.Nodes { return w.client(client) }

// Register returns the guarded resource as the client sees it.
func (w *World) Register(client int) env.Register { return w.client(client) }

// Store returns the store that the nodes replicate as the client sees it; nil:
// there is none.
func (w *World) Store(client int) env.Store {
	if w.store == nil {
		return nil
	}
	return w.client(client)
}

// Call returns the context for a call of the client's lock that begins now, and a function
// to be called when the call has returned.
func (w *World) Call(ctx context.Context, client int) (calling context.Context, returned func()) {
	return w.underWay.Begin(ctx, client)
}

// ReportNodes makes the world call executes before a node executes the command of a call of [env.Nodes.Send],
// of which those of all clients are numbered from 1, restored when a fault has restored an earlier version
// of a key: expiry is the last millisecond of the node's clock in which it exists, and ends is when that is
// over, or 0; and counted when a counter has another number, 0 without the counter. None changes the run.
func (w *World) ReportNodes(executes func(node, send int), restored func(node int, key, token string, expiry int64, ends history.Time), counted func(node int, key string, number uint64)) {
	w.executes, w.restored, w.counted = executes, restored, counted
}

func (w *World) node(id int) *node     { return &w.nodes[id-1] }
func (w *World) client(id int) *client { return w.clients[id-1] }

// Trace returns a hash of everything that happened. A world with the same setting, seed
// and clients has the same hash.
func (w *World) Trace() (hash uint64, exact bool) { return uint64(w.trace), true }

// SchedulingLag returns 0: in virtual time nothing is late.
func (w *World) SchedulingLag() time.Duration { return 0 }

// Record stamps the event and writes it into the history.
func (w *World) Record(e history.Event) {
	if w.sealed {
		return
	}
	w.catchUp()
	p := w.place()
	*p = e
	p.Time = w.time()
	if p.Until != 0 && (p.Kind == history.Granted || p.Kind == history.Extended) {
		p.Ends = w.leaseExpiries.Due(p.Client, p.Token)
	}
	w.written(p)
}

// catchUp records the expiries of keys and leases that are due, in the order of their
// times.
func (w *World) catchUp() {
	w.expireKeys()
	w.leaseExpiries.Flush(w.time())
}

// write passes on an event with the time that it has.
func (w *World) write(e *history.Event) {
	p := w.place()
	*p = *e
	w.written(p)
}

// place is where the next event is put before it is passed on: sinks do not keep the pointer,
// and an event of its own would be allocated each time.
func (w *World) place() *history.Event {
	if w.group != nil {
		return w.group.Next()
	}
	return &w.event
}

// written has to be called with each event in its place.
func (w *World) written(e *history.Event) {
	w.trace.event(e)
	if w.store != nil {
		w.store.tries.Note(e)
	}
	w.passOn(e)
}

// passOn gives an event in its place to those who read the history.
func (w *World) passOn(e *history.Event) {
	if w.few != nil {
		w.few.record(e)
	}
	if w.group == nil {
		w.sink.Record(e)
	}
}

func (w *World) time() history.Time { return history.Time(w.now) }

// pollEvery is the number of events between two looks at the caller's context.
const pollEvery = 4096

// Run runs main for every client until all living clients have returned or the horizon is
// reached, and closes the history. It returns the error of ctx or of a fault that could
// not be injected, or a panic of a client's code. If the world cannot continue, or reaches
// a limit, there is no error: the reason in the end event of the history says which, and
// which clients are affected.
func (w *World) Run(ctx context.Context, main func(client int)) error {
	if w.sealed {
		return errors.New("sim: a world runs once")
	}
	w.running = len(w.clients)
	for _, c := range w.clients {
		c.main = w.start(c, "main", func() {
			main(c.id)
			w.running--
		})
	}
	if w.store != nil {
		w.Record(history.Event{Kind: history.Leader, Node: w.store.leader})
	}
	w.fail(w.scheduler.Advance(0))
	if w.driver != nil {
		w.goesOn()
	}
	for events := 0; w.err == nil; events++ {
		w.settle()
		if w.err != nil || w.running == 0 || !w.next() {
			break
		}
		if events%pollEvery == 0 {
			w.fail(ctx.Err())
		}
	}
	if w.err == nil && w.running > 0 {
		w.endIfStuck()
		w.now = int64(w.setting.Horizon)
	}
	w.Record(*world.End(ctx, w.err))
	_ = w.Close()
	if errors.Is(w.err, errNoProgress) || errors.Is(w.err, errBound) {
		return nil
	}
	return w.err
}

// settle lets activities act until all of them wait.
func (w *World) settle() {
	for i := 0; i < len(w.ready) && w.err == nil; i++ {
		a := w.ready[i]
		a.ready = false
		switch {
		case a.client == nil:
		case a.client.stopped():
			a.wakeOnResume = true
		default:
			w.countStep(a.client)
			if w.few != nil {
				a.client.observeTurn(a)
			}
			a.waits = false
			a.actor.act()
		}
	}
	w.ready = w.ready[:0]
}

// next handles the next event and reports whether there was one before the horizon.
func (w *World) next() bool {
	w.armScheduler()
	first := w.queue.first()
	switch {
	case w.few != nil && len(w.few.due) > 0: // at this instant
	case len(*first) == 0 || (*first)[0].at > int64(w.setting.Horizon):
		return false
	case (*first)[0].at > w.now:
		w.now = (*first)[0].at
		w.limits.timeAdvanced()
	}
	switch {
	case w.driver != nil && !w.goesOn():
	case w.few == nil:
		w.handle(first.pop())
	default:
		w.handleChosen()
	}
	return true
}

// goesOn reports whether the driver lets the run go on.
func (w *World) goesOn() bool {
	if w.driver.Choose(w, choice.Point{Kind: choice.Next}, 2) == 0 {
		return true
	}
	w.fail(errStopped)
	return false
}

// handle handles an event at its instant.
func (w *World) handle(e event) {
	w.tick()
	w.limitPending()
	switch e.class() {
	case faultDue:
		w.faultAt = math.MaxInt64
		w.fail(w.scheduler.Advance(time.Duration(w.now)))
	case delayedActions:
		w.delayed.take(e.index()).do()
	case requestArrives, replyArrives:
		w.arrives(e.index())
	case callArrives:
		w.callArrives(e.index())
	case callReturns:
		w.callReturns(e.index())
	case timerFires:
		w.activities[e.index()].timer(e.at)
	case deferredArrive:
		w.clients[e.index()].deliverDeferred()
	default:
		panic(fmt.Sprintf("sim: event of class %d", e.class()))
	}
}

// armScheduler makes sure that the queue holds the plan's next known instant.
func (w *World) armScheduler() {
	if at, ok := w.scheduler.Next(); ok && int64(at) < w.faultAt {
		w.faultAt = int64(at)
		w.queue.push(w.faultAt, faultDue, 0)
	}
}

// fail ends the run with the first error.
func (w *World) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Close unwinds the clients' code, whose last actions do not count. It is not needed after Run.
func (w *World) Close() error {
	w.sealed = true
	for _, a := range w.activities {
		if a.coroutine != nil {
			a.coroutine.stop()
		}
	}
	return nil
}

// delayedAction is what a fault or a node does at a later time.
type delayedAction struct {
	do     func()
	clocks bool // it only moves clocks
}

// later schedules do at a ground time: after the begins and ends of faults at the
// same instant, and before everything that they may affect.
func (w *World) later(at int64, do func()) { w.schedule(at, delayedAction{do: do}) }

// moveLater schedules move, which changes clocks and nothing else.
func (w *World) moveLater(at int64, move func()) {
	w.schedule(at, delayedAction{do: move, clocks: true})
}

func (w *World) schedule(at int64, t delayedAction) {
	w.queue.push(at, delayedActions, w.delayed.put(t))
}
