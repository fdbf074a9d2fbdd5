package sim_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var cycles = flag.Int("cycles", 2000, "how many acquisitions each way of TestSpeed makes")

// The same lock, the same clients and the same judges: on a bare queue of as
// many events (which does nothing but keep their order), in the simulator, and
// on goroutines in a bubble of testing/synctest. Nothing is asserted of times:
// go test ./internal/sim -run TestSpeed -v -args -cycles 300000 prints them.
func TestSpeed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // as the command does
	t.Logf("%-26s %14s %14s %14s %9s %9s", "", "sim", "bare queue", "synctest", "of queue", "of sync.")
	for _, c := range []struct {
		name               string
		clients, resources int
	}{{"1 client", 1, 1}, {"10 clients, 64 resources", 10, 64}} {
		s := racing(t, c.clients, c.resources, *cycles/c.clients)
		simulated, events := inSimulator(t, s)
		floor := onQueue(events, 10*c.clients)
		bubbled := inBubble(t, s)
		t.Logf("%-26s %12.0f/s %12.0f/s %12.0f/s %9.2f %9.1f (%.0f events a cycle)", c.name,
			perSecond(simulated), perSecond(floor), perSecond(bubbled),
			float64(floor)/float64(simulated), float64(bubbled)/float64(simulated), float64(events)/float64(*cycles))
	}
}

// perSecond is how many cycles go in a second if all took so long.
func perSecond(d time.Duration) float64 { return float64(*cycles) / d.Seconds() }

// racing is a world without faults in which clients lock and release as fast
// as they can.
func racing(t *testing.T, clients, resources, rounds int) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	s.Latency = nemesis.Distribution{Range: nemesis.Range{Min: 100 * time.Microsecond, Max: 300 * time.Microsecond}}
	s.Horizon, s.MaxEvents = nemesis.MaxDuration, math.MaxInt
	s.Clients = nil
	for range clients {
		s.Clients = append(s.Clients, scenarios.Client{Workload: "hold", Resource: "r", Resources: resources, Rounds: rounds})
	}
	return s
}

func inSimulator(t *testing.T, s scenarios.Scenario) (took time.Duration, events uint64) {
	var opened *sim.World
	backend := runner.Backend{Ability: nemesis.Ability{Name: "sim"}, Keys: true, Open: runner.Opener(
		func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (w *sim.World, err error) {
			opened, err = sim.Open(ctx, s, seed, sink)
			return opened, err
		})}
	took = timed(t, backend, s)
	return took, opened.Pushed()
}

func inBubble(t *testing.T, s scenarios.Scenario) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		took = timed(t, runner.Backend{Ability: nemesis.Ability{Name: "bubble"}, Keys: true, Open: runner.Opener(openBubble)}, s)
	})
	return took
}

// timed runs the scenario and makes sure that the run was what it should be.
func timed(t *testing.T, b runner.Backend, s scenarios.Scenario) time.Duration {
	t.Helper()
	watch := newStopwatch()
	r, err := runner.Run(t.Context(), b, s, 1, nil)
	took := watch()
	if err != nil {
		t.Fatal(err)
	}
	want := *cycles / len(s.Clients) * len(s.Clients)
	if got := r.Report.Measurements.Grants; got != want {
		t.Errorf("%s: %d grants, want %d", b.Name, got, want)
	}
	for _, p := range []checker.Property{checker.Lease, checker.Contract} {
		if f := r.Report.Finding(p); f.Verdict != checker.Holds {
			t.Errorf("%s: %s is %v: %s", b.Name, p, f.Verdict, f.Story())
		}
	}
	return took
}

func onQueue(events uint64, waiting int) time.Duration {
	watch := newStopwatch()
	if sim.Churn(events, waiting) == 0 {
		panic(fmt.Sprintf("%d events took no time", events))
	}
	return watch()
}

// newStopwatch starts a watch that goes on in a bubble. There package time, and with it the
// monotonic clock, shows the bubble's time; boottime comes from the kernel.
func newStopwatch() func() time.Duration {
	begin := env.System().Now(env.Boottime)
	return func() time.Duration { return env.System().Now(env.Boottime).Sub(begin) }
}

// bubble is a world without faults on goroutines, for a bubble of
// testing/synctest: what one would build who has no simulator.
type bubble struct {
	setting nemesis.Setting
	seed    uint64
	begin   time.Time
	nodes   []bubbleNode
	work    sync.WaitGroup

	mu     sync.Mutex
	sink   history.Sink
	lapses *world.LeaseExpiries
}

type bubbleNode struct {
	mu   sync.Mutex
	keys map[string]bubbleKey
}

type bubbleKey struct {
	token  string
	expiry time.Time
}

func openBubble(_ context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*bubble, error) {
	b := &bubble{setting: s, seed: seed, begin: time.Now(), sink: sink, nodes: make([]bubbleNode, s.Nodes)}
	b.lapses = world.NewLeaseExpiries(func(_ int, _ env.Clock, until env.Instant) history.Time { return history.Time(until) }, sink.Record)
	for i := range b.nodes {
		b.nodes[i].keys = map[string]bubbleKey{}
	}
	return b, nil
}

func (b *bubble) now() history.Time { return history.Time(time.Since(b.begin)) }

func (b *bubble) Record(e history.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Time = b.now()
	b.lapses.Flush(e.Time)
	b.sink.Record(&e)
}

func (b *bubble) Reach(int, env.Step, int) {}

func (b *bubble) Watch(client int, clock env.Clock, resource, token string, until env.Instant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lapses.Watch(b.now(), client, clock, resource, token, until)
}

func (b *bubble) Unwatch(client int, token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lapses.Unwatch(b.now(), client, token)
}

func (b *bubble) Run(_ context.Context, main func(client int)) error {
	for c := range b.setting.Clients {
		b.work.Go(func() { main(c + 1) })
	}
	b.work.Wait()
	b.Record(history.Event{Kind: history.End})
	return nil
}

func (b *bubble) Call(ctx context.Context, _ int) (context.Context, func()) { return ctx, func() {} }

func (b *bubble) Trace() (uint64, bool)        { return 0, false }
func (b *bubble) SchedulingLag() time.Duration { return 0 }
func (b *bubble) Close() error                 { return nil }

func (b *bubble) Runtime(client int) env.Runtime  { return b.client(client) }
func (b *bubble) Nodes(client int) env.Nodes      { return b.client(client) }
func (b *bubble) Register(_ int) env.Register     { return nil }
func (b *bubble) Store(_ int) env.Store           { return nil }
func (b *bubble) client(number int) *bubbleClient { return newBubbleClient(b, number) }

// bubbleClient is a client's machine in a bubble.
type bubbleClient struct {
	*bubble
	number  int
	latency *nemesis.Table
	mu      *sync.Mutex
	random  *rand.PCG
}

func newBubbleClient(b *bubble, number int) *bubbleClient {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "client %d", number)
	return &bubbleClient{bubble: b, number: number, latency: b.setting.Latency.Table(), mu: new(sync.Mutex), random: rand.NewPCG(b.seed, h.Sum64())}
}

func (c *bubbleClient) Now(env.Clock) env.Instant { return env.Instant(c.now()) }

func (c *bubbleClient) after(until env.Instant) *time.Timer {
	return time.NewTimer(time.Duration(until - env.Instant(c.now())))
}

func (c *bubbleClient) Sleep(ctx context.Context, until env.Instant) error {
	timer := c.after(until)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *bubbleClient) Go(_ string, f func()) env.Task {
	done := make(bubbleTask)
	c.work.Go(func() {
		defer close(done)
		f()
	})
	return done
}

type bubbleTask chan struct{}

func (t bubbleTask) Wait(ctx context.Context) error {
	select {
	case <-t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *bubbleClient) Random(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var word [8]byte
	for len(p) > 0 {
		binary.LittleEndian.PutUint64(word[:], c.random.Uint64())
		p = p[copy(p, word[:]):]
	}
}

func (c *bubbleClient) delay() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latency.Draw(c.random.Uint64())
}

func (c *bubbleClient) Len() int { return len(c.nodes) }

func (c *bubbleClient) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	r := &bubbleRound{client: c, left: to.Len(), giveUp: giveUp, replies: make(chan env.Reply, to.Len())}
	for rest := to; rest != 0; {
		node := rest.First()
		rest = rest.Without(node)
		c.work.Go(func() {
			time.Sleep(c.delay())
			answer := c.execute(node, command)
			time.Sleep(c.delay())
			r.replies <- env.Reply{Node: node, Answer: answer}
		})
	}
	return r
}

// bubbleRound takes it for granted that every node answers before giveUp.
type bubbleRound struct {
	client  *bubbleClient
	left    int
	giveUp  env.Instant
	replies chan env.Reply
}

func (r *bubbleRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if r.left == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	timer := r.client.after(min(until, r.giveUp))
	defer timer.Stop()
	select {
	case reply := <-r.replies:
		r.left--
		return reply, nil
	case <-timer.C:
		return env.Reply{}, env.ErrTimeout
	case <-ctx.Done():
		return env.Reply{}, ctx.Err()
	}
}

func (c *bubbleClient) execute(number int, command env.Command) env.Answer {
	n := &c.nodes[number-1]
	n.mu.Lock()
	defer n.mu.Unlock()
	key, exists := n.keys[command.Key]
	exists = exists && time.Now().Before(key.expiry)
	mine := exists && key.token == command.Token
	event := history.Event{Node: number, Resource: command.Key, Token: command.Token, Client: c.number}
	switch {
	case command.Op == env.OpSet && !exists:
		n.keys[command.Key] = bubbleKey{command.Token, time.Now().Add(command.TTL)}
		event.Kind = history.KeySet
	case command.Op == env.OpDelete && mine:
		delete(n.keys, command.Key)
		event.Kind, event.Reason = history.KeyGone, "deleted"
	default:
		return env.No
	}
	c.Record(event)
	return env.Yes
}
