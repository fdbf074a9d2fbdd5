package live

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// inherited returns one of these files.
func inherited(file int) *os.File { return os.NewFile(uintptr(3+file), "from the world") }

// BeClient returns at once in a program that its user has started. In a process that
// [World.RunProcesses] has started, it runs the client and never returns. live turns the brief
// into the life of the client. A program that calls RunProcesses has to call BeClient first.
//
// stores are the kinds of stores that worlds of this program can have.
func BeClient(stores []Store, live func(w *Remote, brief []byte) (life func(), err error)) {
	if os.Getenv(clientEnv) == "" {
		return
	}
	if err := beClient(stores, live); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func beClient(stores []Store, live func(*Remote, []byte) (func(), error)) error {
	orders := gob.NewDecoder(inherited(ordersFile))
	var s setup
	if err := orders.Decode(&s); err != nil {
		return fmt.Errorf("%s is set, but no run has started this process: %w", clientEnv, err)
	}
	r, err := newRemote(s, stores)
	if err != nil {
		return err
	}
	life, err := live(r, s.Brief)
	if err != nil {
		return err
	}
	r.report(report{Ready: true})
	r.run(orders, life)
	return nil
}

// Remote is the world of one client in its own process. Clocks, random numbers and
// connections to the nodes are here. Everything else, including all faults, is in the
// process that started it.
type Remote struct {
	client  *client
	tasks   taskGroup
	calls   *world.Calls
	awaited []env.Step
	seed    uint64

	mu      sync.Mutex // protects what follows; reports are sent in the order of their stamps
	reports *gob.Encoder
	asked   uint64
	answers map[uint64]chan accessResult
}

func newRemote(s setup, stores []Store) (*Remote, error) {
	var connect redisnode.Options
	if err := json.Unmarshal(s.Connect, &connect); err != nil {
		return nil, err
	}
	store, err := storeNamed(s.Store, stores)
	if err != nil {
		return nil, err
	}
	page, err := openPage(inherited(pageFile))
	if err != nil {
		return nil, err
	}
	r := &Remote{
		calls:   world.NewCalls(s.Client),
		awaited: s.Awaited,
		seed:    s.Seed,
		reports: gob.NewEncoder(inherited(reportsFile)),
		answers: map[uint64]chan accessResult{},
	}
	r.calls.Expect(s.Client)
	clocks := clocksSeenOn(page, ground{env.System(), s.Zero})
	r.client, err = newClient(s.Client, s.Seed, clocks, s.Nodes, connect, store, context.Background(), &r.tasks, r.fail)
	return r, err
}

// fail ends the process. The world reports what it wrote last.
func (r *Remote) fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

// run executes orders until the pipe is closed.
func (r *Remote) run(orders *gob.Decoder, life func()) {
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			return
		}
		switch {
		case o.Go:
			r.tasks.start(r.client.taskName("main"), func() {
				life()
				r.report(report{Returned: true})
			}, r.fail)
		case o.ClocksChanged:
			r.client.clocks.source.acknowledge()
			r.client.clocks.newEra()
		case o.Stream != "":
			r.client.random.become(r.seed, o.Stream)
		case o.Cancel != 0:
			cancelCall(r.calls, r.client.number, o.Cancel, r.Record)
		default:
			r.deliver(o.Ask, o.Answer)
		}
	}
}

// report sends a report to the world. It is in the pipe when report returns, so it arrives
// even if the client is killed then.
func (r *Remote) report(what report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what.Stamp = r.client.clocks.ground.shows(env.Monotonic)
	_ = r.reports.Encode(what) // fails only if the world is gone
}

// ask sends a question to the world and returns the channel of the answer.
func (r *Remote) ask(what report) <-chan accessResult {
	got := make(chan accessResult, 1)
	r.mu.Lock()
	r.asked++
	what.Ask = r.asked
	r.answers[what.Ask] = got
	r.mu.Unlock()
	r.report(what)
	return got
}

// deliver delivers an answer.
func (r *Remote) deliver(ask uint64, a accessResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[ask] <- a
	delete(r.answers, ask)
}

// Number returns the client's number.
func (r *Remote) Number() int { return r.client.number }

// Runtime returns the client's runtime.
func (r *Remote) Runtime(int) env.Runtime { return clientRuntime{r.client} }

// Nodes returns the nodes as the client sees them.
func (r *Remote) Nodes(int) env.Nodes { return clientNodes{r.client} }

// Register returns the guarded resource, which is in the process of the world.
func (r *Remote) Register(int) env.Register { return clientRegister{r} }

// send implements [sender].
func (r *Remote) send(ctx context.Context, a access) (accessResult, error) {
	if err := ctx.Err(); err != nil {
		return accessResult{}, err
	}
	select {
	case got := <-r.ask(report{Access: &a}):
		return got, nil
	case <-ctx.Done():
		return accessResult{}, ctx.Err()
	}
}

// Store returns the store as the client sees it, or nil if there is none.
func (r *Remote) Store(int) env.Store { return storeOf(r.client) }

// Record stamps the event with the ground clock and sends it to the world.
func (r *Remote) Record(e history.Event) { r.report(report{Event: &e}) }

// Reach reports a step of the client: see [World.Reach].
func (r *Remote) Reach(_ int, step env.Step, k int) {
	if slices.Contains(r.awaited, step) {
		<-r.ask(report{Reach: &stepReached{step, k}})
	}
}

// Watch asks for an event when a lease ends: see [World.Watch].
func (r *Remote) Watch(_ int, clock env.Clock, resource, token string, until env.Instant) {
	r.report(report{Watch: &watch{clock, resource, token, until}})
}

// Unwatch cancels the Watch of a token, unless it has come due.
func (r *Remote) Unwatch(_ int, token string) { r.report(report{Unwatch: token}) }

// Call returns the context of a call of the client's lock, and a function to call when it
// has returned.
func (r *Remote) Call(ctx context.Context, client int) (calling context.Context, returned func()) {
	return r.calls.Begin(ctx, client)
}
