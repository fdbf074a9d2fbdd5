package live

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// client is one lock user in the process where it runs: the state that its runtime and its
// nodes share.
type client struct {
	number int
	over   context.Context // ends with the run
	gate   *gate
	clocks *clocks
	nodes  connections // used behind the gate only
	store  StoreClient // likewise; nil: there is none
	random *random
	tasks  *taskGroup

	leaving sync.Once // closes store

	fail func(error) // ends the run
}

// connections are a client's connections to all nodes, a [redisnode.Nodes]. The field does
// not have that type because packages that import this one would otherwise compile parts of
// go-redis again, which takes seconds.
type connections interface {
	env.Nodes
	io.Closer
}

// newClient returns a client that reaches the nodes at these addresses, and the store that
// they replicate, unless that is nil. Its random numbers depend on the seed.
func newClient(number int, seed uint64, clocks *clocks, nodes []string, connect redisnode.Options, store Store, over context.Context, tasks *taskGroup, fail func(error)) (*client, error) {
	n, err := connectNodes(nodes, connect, store)
	if err != nil {
		return nil, err
	}
	c := &client{
		number: number,
		over:   over,
		gate:   newGate(over),
		clocks: clocks,
		nodes:  n,
		random: newRandom(seed, fmt.Sprintf("client %d", number)),
		tasks:  tasks,
		fail:   fail,
	}
	if err := c.connectStore(store, nodes); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return c, nil
}

// connectStore connects the client to the store, if there is one. Like dead nodes, those of
// a store do not answer Redis' commands.
func (c *client) connectStore(kind Store, addrs []string) error {
	if kind == nil {
		return nil
	}
	first := (c.number - 1) % len(addrs)
	conn, err := kind.Connect(slices.Concat(addrs[first:], addrs[:first]), c.dialMember)
	c.store = conn
	return err
}

// dialMember connects the client to a member of the store. While the client is paused, the
// connection stands still.
func (c *client) dialMember(ctx context.Context, addr string) (net.Conn, error) {
	return dialGated(ctx, c.gate, func(ctx context.Context) (net.Conn, error) {
		return DialServer(ctx, addr)
	})
}

// close closes all connections of the client.
func (c *client) close() error {
	err := c.nodes.Close()
	if c.store != nil {
		c.leaving.Do(func() { err = errors.Join(err, c.store.Close()) })
	}
	return err
}

// connectNodes connects a client to its nodes, whose servers are Redis unless they
// replicate a store.
func connectNodes(addrs []string, connect redisnode.Options, store Store) (connections, error) {
	if store != nil {
		return noNodes(len(addrs)), nil
	}
	return redisnode.New(addrs, connect)
}

// noNodes are nodes that are no Redis servers. No request to them is answered.
type noNodes int

func (n noNodes) Len() int { return int(n) }

func (n noNodes) Close() error { return nil }

func (n noNodes) Send(env.NodeSet, env.Command, env.Instant) env.Round { return noRound{} }

type noRound struct{}

func (noRound) Next(context.Context, env.Instant) (env.Reply, error) {
	return env.Reply{}, env.ErrRoundOver
}

// taskName returns the name of one of the client's goroutines, for errors.
func (c *client) taskName(what string) string { return fmt.Sprintf("client %d, %s", c.number, what) }

// clientHost runs a client: as goroutines of this process behind a gate, or as a process
// of its own. Faults of clients act on it.
type clientHost interface {
	// pause stops the client, and resume lets it continue.
	pause() error
	resume() error

	// kill ends the client at once. When it returns, every event that the client
	// reported before is recorded.
	kill()

	// cancel cancels the call of the lock that is under way, if any, and records that
	// the fault did.
	cancel(fault int)

	// clocksChanged makes the client read its clocks again wherever it waits.
	clocksChanged()

	// draws makes the client draw from the named stream, from its beginning.
	draws(stream string)

	// leave ends the run: later events of the client are ignored.
	leave()
}

// cancelCall records the cancellation first, because the call may return at once.
func cancelCall(calls *world.Calls, client, fault int, tell func(history.Event)) {
	if cancel := calls.UnderWay(client); cancel != nil {
		tell(history.Event{Kind: history.Cancel, Client: client, Fault: fault})
		cancel()
	}
}

// clientRuntime is a client's [env.Runtime].
type clientRuntime struct{ *client }

// Now reads one of the client's clocks.
func (m clientRuntime) Now(c env.Clock) env.Instant {
	m.gate.pass()
	now := m.clocks.now(c)
	m.gate.pass() // a client can be paused after it has read the time
	return now
}

// Sleep implements [env.Runtime].
func (m clientRuntime) Sleep(ctx context.Context, until env.Instant) error {
	m.gate.pass()
	err := m.clocks.wait(ctx, until, m.sleep)
	if errors.Is(err, errTimeUp) {
		err = nil
	}
	m.gate.pass()
	return err
}

// errTimeUp says that the awaited time has come.
var errTimeUp = errors.New("the time is up")

// sleep waits until an instant of the machine's monotonic clock, or the end of the run.
func (m clientRuntime) sleep(ctx context.Context, until env.Instant) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(until.Sub(m.clocks.ground.shows(env.Monotonic)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return errTimeUp
	case <-ctx.Done():
		return ctx.Err()
	case <-m.over.Done():
		return nil
	}
}

// Go implements [env.Runtime].
func (m clientRuntime) Go(name string, f func()) env.Task {
	m.gate.pass()
	t := m.tasks.start(m.taskName(name), func() {
		m.gate.pass()
		f()
	}, m.fail)
	if t == nil {
		runtime.Goexit() // the run is over
	}
	m.gate.pass()
	return task{m, t}
}

// Random draws from the client's stream.
func (m clientRuntime) Random(p []byte) { m.random.fill(p) }

// task is a background task of a client.
type task struct {
	clientRuntime
	member *goroutine
}

// Wait implements [env.Task].
func (t task) Wait(ctx context.Context) error {
	t.gate.pass()
	var err error
	select {
	case <-t.member.done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-t.over.Done():
	}
	t.gate.pass()
	return err
}

// random is a stream of random numbers. It is safe for concurrent use.
type random struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

// newRandom returns the stream of that name. It depends on the seed only, and is
// independent of other streams.
func newRandom(seed uint64, name string) *random {
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(name), seed))
	return &random{source: rand.NewChaCha8(key)}
}

// become replaces the stream by the one of another name, from its beginning.
func (r *random) become(seed uint64, name string) {
	fresh := newRandom(seed, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.source = fresh.source
}

// fill implements [env.Runtime]'s Random.
func (r *random) fill(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.source.Read(p) // never fails
}

// bits draws 64 bits.
func (r *random) bits() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Uint64()
}

// Draws returns a function that draws 64 bits from the stream of that name. It may be
// called concurrently, as rules of faults need it.
func Draws(seed uint64, name string) func() uint64 { return newRandom(seed, name).bits }

// clientNodes is a client's [env.Nodes].
type clientNodes struct{ client *client }

// Len implements [env.Nodes].
func (n clientNodes) Len() int { return n.client.nodes.Len() }

// Send implements [env.Nodes]. A request is given up according to the client's clock as it
// runs now. A fault that changes the clock later does not change that.
func (n clientNodes) Send(to env.NodeSet, cmd env.Command, giveUp env.Instant) env.Round {
	n.client.gate.pass()
	machine, _ := n.client.clocks.due(env.Monotonic, giveUp)
	r := clientRound{n.client.gate, n.client.clocks, n.client.nodes.Send(to, cmd, machine)}
	n.client.gate.pass()
	return r
}

// clientRound is a client's [env.Round].
type clientRound struct {
	gate    *gate
	clocks  *clocks
	replies env.Round
}

// alwaysPast is an instant in the past of every clock.
const alwaysPast env.Instant = math.MinInt64 / 2

// Next implements [env.Round]. A client that was paused while it waited sees replies that
// arrived in the meantime before it sees that its time is up.
func (r clientRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	r.gate.pass()
	reply := env.Reply{}
	err := r.clocks.wait(ctx, until, func(ctx context.Context, machine env.Instant) (err error) {
		reply, err = r.replies.Next(ctx, machine)
		return err
	})
	if r.gate.pass() && err != nil {
		if late, none := r.replies.Next(ctx, alwaysPast); none == nil {
			return late, nil
		}
	}
	return reply, err
}
