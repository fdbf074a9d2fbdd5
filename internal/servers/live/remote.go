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

// clientEnv is set in the environment of a process that is to be a client.
const clientEnv = "LOCKSTORM_CLIENT"

// What a client is given beside its standard files, in this order.
const (
	ordersFile = iota
	reportsFile
	pageFile
)

// inherited is the file that a client finds there.
func inherited(file int) *os.File { return os.NewFile(uintptr(3+file), "from the world") }

// BeClient returns at once in a program that its user has started. In a process that
// [World.RunApart] has started it is the client, and never returns: live makes of the
// brief what the client does, in its world. Whoever calls RunApart has to call it first of
// all.
func BeClient(live func(w *Remote, brief []byte) (life func(), err error)) {
	if os.Getenv(clientEnv) == "" {
		return
	}
	if err := beClient(live); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func beClient(live func(*Remote, []byte) (func(), error)) error {
	orders := gob.NewDecoder(inherited(ordersFile))
	var s setup
	if err := orders.Decode(&s); err != nil {
		return fmt.Errorf("%s is set, and nobody is there who wants a client: %w", clientEnv, err)
	}
	r, err := newRemote(s)
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

// Remote is the world of one client in a process of its own. Its clocks, its randomness
// and its way to the nodes are here; the rest is in the process that has started it, as is
// whatever befalls it.
type Remote struct {
	client  *client
	tasks   taskGroup
	calls   *world.Calls
	awaited []env.Step
	seed    uint64

	mu      sync.Mutex // of what follows; what is stamped is told in the order of its stamps
	reports *gob.Encoder
	asked   uint64
	answers map[uint64]chan accessResult
}

func newRemote(s setup) (*Remote, error) {
	var connect redisnode.Options
	if err := json.Unmarshal(s.Connect, &connect); err != nil {
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
	r.client, err = newClient(s.Client, s.Seed, clocks, s.Nodes, connect, context.Background(), &r.tasks, r.fail)
	return r, err
}

// fail ends the process: what the client says last is what is told of its end.
func (r *Remote) fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

// run does what it is told, until nobody is there any more who could.
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

// report tells the world something. It is in the hands of the system when it returns, so
// that it is heard even if the client is killed then.
func (r *Remote) report(what report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what.Stamp = r.client.clocks.ground.shows(env.Monotonic)
	_ = r.reports.Encode(what) // fails only if nobody is there any more
}

// ask asks the world something, and returns where the answer will be.
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

// deliver takes an answer.
func (r *Remote) deliver(ask uint64, a accessResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[ask] <- a
	delete(r.answers, ask)
}

// Number is that of the client.
func (r *Remote) Number() int { return r.client.number }

// Runtime returns what the client has of its machine.
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

// Store returns nil: there is none.
func (r *Remote) Store(int) env.Store { return nil }

// Record stamps the event with the ground clock and tells the world of it.
func (r *Remote) Record(e history.Event) { r.report(report{Event: &e}) }

// Reach tells that the client takes a step: see [World.Reach].
func (r *Remote) Reach(_ int, step env.Step, k int) {
	if slices.Contains(r.awaited, step) {
		<-r.ask(report{Reach: &stepReached{step, k}})
	}
}

// Watch asks for a lapse event: see [World.Watch].
func (r *Remote) Watch(_ int, clock env.Clock, resource, token string, until env.Instant) {
	r.report(report{Watch: &watch{clock, resource, token, until}})
}

// Unwatch withdraws what was asked for the token, unless it has come due.
func (r *Remote) Unwatch(_ int, token string) { r.report(report{Unwatch: token}) }

// Call returns the context for a call of the client's lock that begins now, and
// what to do when it has returned.
func (r *Remote) Call(ctx context.Context, client int) (calling context.Context, returned func()) {
	return r.calls.Begin(ctx, client)
}
