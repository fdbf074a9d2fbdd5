//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/nemesis"
)

// patience bounds what should happen at once.
const patience = 2 * time.Minute

// testWorld is a world and its history.
type testWorld struct {
	t *testing.T
	*World
	log           *history.Log
	recordedKinds *recordedKinds
}

// recordedKinds records which kinds of events have been recorded, during a run.
type recordedKinds struct {
	mu    sync.Mutex
	kinds map[history.Kind]bool

	before func(history.Kind) // called before an event counts as recorded; nil: not
}

// Record implements [history.Sink].
func (e *recordedKinds) Record(event *history.Event) {
	if e.before != nil {
		e.before(event.Kind)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kinds[event.Kind] = true
}

// heard reports whether an event of the kind was recorded.
func (w *testWorld) heard(kind history.Kind) bool {
	w.recordedKinds.mu.Lock()
	defer w.recordedKinds.mu.Unlock()
	return w.recordedKinds.kinds[kind]
}

// newTestWorld opens a world for the setting. The defaults are one node, one client and a
// horizon. At the end it checks that nothing is left.
func newTestWorld(t *testing.T, s nemesis.Setting) *testWorld {
	t.Helper()
	s.Nodes, s.Clients = max(s.Nodes, 1), max(s.Clients, 1)
	if s.Persistence == "" {
		s.Persistence = nemesis.Nothing
	}
	if s.Horizon == 0 {
		s.Horizon = 2 * patience
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	before := runtime.NumGoroutine()
	log, heard := new(history.Log), &recordedKinds{kinds: map[history.Kind]bool{}}
	w, err := openOn(t.Context(), s, history.Tee(log, heard))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		noMoreGoroutines(t, before)
	})
	return &testWorld{t, w, log, heard}
}

// openOn opens a world on its own servers.
func openOn(ctx context.Context, s nemesis.Setting, sink history.Sink) (*World, error) {
	rewinds := slices.Contains(s.Plan.Kinds(), "vm-restore")
	servers, err := redisserver.OpenFleet(ctx, redisserver.Options{
		Nodes: s.Nodes, AppendOnly: s.Persistence != nemesis.Nothing, EverySecond: s.Persistence == nemesis.EverySecond,
		Journal: slices.Contains(s.Plan.Kinds(), "old-snapshot") || rewinds, Rewind: rewinds, Clocks: s.Plan.AsksFor(nemesis.NodeClockFeature),
	})
	if err != nil {
		return nil, err
	}
	return Open(s, 1, sink, NewFleet(servers.Servers(), servers.Died(), servers.Close), slices.Concat(Anywhere(nemesis.NodeClockFeature), Outages(), PowerLosses(nemesis.StuckSyncFeature, nemesis.TornLoadFeature, nemesis.TornRefuseFeature), OldSnapshots(), VMRestores(), Stops(), Commands(), Duplicates()))
}

// pid returns the process id of a node's server.
func (w *testWorld) pid(node int) int { return w.server(node).(*redisserver.Server).Pid() }

// slower repeats a test that can fail because the machine is too slow for its unit of time,
// with a longer unit each time. It fails with the error of the one that had a minute.
func slower(t *testing.T, scene func(unit time.Duration) error) {
	t.Helper()
	for unit := 50 * time.Millisecond; ; unit *= 4 {
		err := scene(unit)
		if err == nil {
			return
		}
		if unit > time.Minute {
			t.Error(err)
			return
		}
		t.Logf("with %v: %v; once more, with more time", unit, err)
	}
}

func noMoreGoroutines(t *testing.T, than int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > than; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), than, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// run runs the clients and checks the history.
func (w *testWorld) run(main func(client int)) error {
	w.t.Helper()
	err := w.Run(w.t.Context(), main)
	w.check()
	return err
}

// check checks what is true of any history.
func (w *testWorld) check() {
	w.t.Helper()
	var last history.Time
	for i, e := range *w.log {
		if e.Time < last {
			w.t.Errorf("event %d, %v, at %v comes after one at %v", i+1, e.Kind, e.Time, last)
		}
		last = e.Time
		if (e.Kind == history.End) != (i == len(*w.log)-1) {
			w.t.Errorf("event %d of %d is %v", i+1, len(*w.log), e.Kind)
		}
	}
}

func (w *testWorld) mustRun(main func(client int)) {
	w.t.Helper()
	if err := w.run(main); err != nil {
		w.t.Fatal(err)
	}
}

// kinds lists the kinds of events in the history, without the end.
func (w *testWorld) kinds() []history.Kind {
	var kinds []history.Kind
	for _, e := range *w.log {
		kinds = append(kinds, e.Kind)
	}
	return kinds[:len(kinds)-1]
}

func (w *testWorld) wantKinds(want ...history.Kind) {
	w.t.Helper()
	if got := w.kinds(); !slices.Equal(got, want) {
		w.t.Errorf("the history tells\n%v, want\n%v", got, want)
	}
}

func (w *testWorld) event(kind history.Kind) history.Event {
	w.t.Helper()
	for _, e := range *w.log {
		if e.Kind == kind {
			return e
		}
	}
	w.t.Errorf("no %v in the history", kind)
	return history.Event{}
}

// ask sends a command to all nodes, waits for them for at most the given time, and returns
// the replies by node from 0.
func (w *testWorld) ask(client int, op env.Op, token string, wait time.Duration) []env.Answer {
	nodes, giveUp := w.Nodes(client), w.Runtime(client).Now(env.Monotonic).Add(wait)
	answers := make([]env.Answer, nodes.Len())
	cmd := env.Command{Op: op, Key: "key", Token: token}
	if op != env.OpDelete {
		cmd.TTL = time.Hour
	}
	for r := nodes.Send(env.AllNodes(nodes.Len()), cmd, giveUp); ; {
		reply, err := r.Next(context.Background(), env.Never)
		if err != nil {
			return answers
		}
		answers[reply.Node-1] = reply.Answer
	}
}

// askBriefly sends a command to a node that does not reply, and waits only briefly. A
// command that was not sent by then is sent again.
func (w *testWorld) askBriefly(client, node int, op env.Op, token string) (answer env.Answer) {
	m := w.Runtime(client)
	cmd := env.Command{Op: op, Key: "key", Token: token, TTL: time.Hour}
	for last := m.Now(env.Monotonic).Add(patience); ; {
		giveUp := m.Now(env.Monotonic).Add(50 * time.Millisecond)
		reply, err := w.Nodes(client).Send(env.SetOf(node), cmd, giveUp).Next(context.Background(), env.Never)
		if err != nil || reply.Answer != env.Failed || m.Now(env.Monotonic) > last {
			return reply.Answer
		}
	}
}

// isDown stands for the reply of a server that is down: its last connection breaks, or no
// new one can be made.
const isDown env.Answer = 100

func (w *testWorld) wantAnswers(what string, got []env.Answer, want ...env.Answer) {
	w.t.Helper()
	if !slices.EqualFunc(got, want, func(got, want env.Answer) bool {
		return got == want || want == isDown && (got == env.Lost || got == env.Failed)
	}) {
		w.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (w *testWorld) sleep(client int, d time.Duration) {
	m := w.Runtime(client)
	_ = m.Sleep(context.Background(), m.Now(env.Monotonic).Add(d))
}

func TestRunEndsAtTheHorizonAndUnwindsWhoeverIsLeft(t *testing.T) {
	slower(t, func(unit time.Duration) error { return unwindsAll(t, 2*unit) })
}

// unwindsAll returns an error if a client had not begun when the run ended.
func unwindsAll(t *testing.T, horizon time.Duration) error {
	w := newTestWorld(t, nemesis.Setting{Clients: 4, Horizon: horizon})
	var begun, unwound atomic.Int32
	w.mustRun(func(client int) {
		begun.Add(1)
		defer unwound.Add(1)
		m := w.Runtime(client)
		defer m.Now(env.Monotonic) // a port call while it is unwound
		switch client {
		case 1:
			_ = m.Sleep(context.Background(), env.Never)
		case 2:
			for {
				m.Now(env.Monotonic)
			}
		case 3:
			_ = m.Go("background", func() { _ = m.Sleep(context.Background(), env.Never) }).Wait(context.Background())
		case 4:
			for {
				w.ask(4, env.OpSet, "four", patience)
			}
		}
		t.Error("a client came back from its last call")
	})
	if begun, unwound := begun.Load(), unwound.Load(); unwound < begun {
		t.Errorf("%d of %d clients have been unwound", unwound, begun)
	} else if begun < 4 {
		return fmt.Errorf("only %d of 4 clients have begun", begun)
	}
	if end := w.event(history.End); end.Time < history.Time(horizon) || end.Reason != "" {
		t.Errorf("the run ended at %v because of %q", end.Time, end.Reason)
	}
	w.Record(history.Event{Kind: history.Step})
	w.wantKinds()
	return nil
}

func TestRunEndsWithItsContext(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{})
	ctx, cancel := context.WithCancel(t.Context())
	err := w.Run(ctx, func(int) {
		cancel()
		w.sleep(1, time.Hour)
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.wantKinds()
	if got := w.event(history.End).Reason; got != "stopped: context canceled" {
		t.Errorf("the history ends because of %q", got)
	}
	if err := w.Run(t.Context(), func(int) {}); err == nil {
		t.Error("a world ran twice")
	}
}

func TestPanicOfAClientIsAnError(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Clients: 2})
	err := w.run(func(client int) {
		if client == 2 {
			panic("out of luck")
		}
		w.sleep(1, time.Hour)
	})
	if err == nil || !strings.Contains(err.Error(), "client 2, main: panic: out of luck") {
		t.Error(err)
	}
	if got := w.event(history.End).Reason; got != "client 2, main: panic: out of luck" {
		t.Errorf("the history ends because of %q", got)
	}
}

func TestGoroutineThatDoesNotEndIsNamed(t *testing.T) {
	stop := make(chan struct{})
	var c taskGroup
	ended := c.start("client 1, main", func() {}, nil)
	c.start("client 2, main", func() { <-stop }, nil)
	<-ended.done
	err := c.wait(50 * time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "client 2, main") || strings.Contains(err.Error(), "client 1") {
		t.Error(err)
	}
	if c.start("late", func() {}, nil) != nil {
		t.Error("a task was started in a closed group")
	}
	close(stop)
	if err := c.wait(patience); err != nil {
		t.Error(err)
	}
}

func TestServerThatDiesOfItselfEndsTheRun(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Nodes: 3})
	err := w.run(func(int) {
		_ = syscall.Kill(w.pid(2), syscall.SIGTERM)
		w.sleep(1, time.Hour)
	})
	if err == nil || !strings.Contains(err.Error(), w.server(2).Addr()) {
		t.Error(err)
	}
}

func TestFaultThatCannotBeCarriedOutEndsTheRun(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(0)},
		{Action: &nemesis.Crash{Node: 1}, Start: nemesis.When(1, env.StepAcquire, 0)},
	}})
	err := w.run(func(int) {
		w.Reach(1, env.StepAcquire, 0)
		w.sleep(1, time.Hour)
	})
	if err == nil || !strings.Contains(err.Error(), "fault 2") || w.event(history.End).Reason != err.Error() {
		t.Errorf("%v; the history ends because of %q", err, w.event(history.End).Reason)
	}
}

func TestLapsesAreInTheOrderOfTime(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{})
	m := w.Runtime(1)
	w.mustRun(func(int) {
		begin := m.Now(env.Monotonic)
		in := func(ms int) env.Instant { return begin.Add(time.Duration(ms) * time.Millisecond) }
		w.Watch(1, env.Monotonic, "r", "late", in(600))
		w.Watch(1, env.Monotonic, "r", "early", in(20))
		w.Watch(1, env.Monotonic, "r", "moved", in(30))
		w.Watch(1, env.Monotonic, "r", "moved", in(700))
		w.Watch(1, env.Monotonic, "r", "released", in(40))
		w.Unwatch(1, "released")
		w.Watch(1, env.Monotonic, "r", "never", in(3_600_000))
		w.Record(history.Event{Kind: history.Acquire, Client: 1})
		w.sleep(1, 50*time.Millisecond)
		w.Record(history.Event{Kind: history.Release, Client: 1})
		w.Watch(1, env.Monotonic, "r", "over", in(10))
		w.Record(history.Event{Kind: history.Released, Client: 1})
		w.sleep(1, 700*time.Millisecond)
	})
	var told []string
	for _, e := range *w.log {
		told = append(told, strings.TrimSpace(e.Kind.String()+" "+e.Token))
		if e.Kind == history.Lapse && e.Token != "over" && w.history.origin.Add(time.Duration(e.Time)) != env.Instant(e.Until) {
			t.Errorf("the lapse of %q at %v is written at %v", e.Token, e.Until, e.Time)
		}
	}
	want := []string{"acquire", "lapse early", "release", "lapse over", "released", "lapse late", "lapse moved", "end"}
	if !slices.Equal(told, want) {
		t.Errorf("the history tells\n%q, want\n%q", told, want)
	}
}

func TestRandomnessFollowsFromTheSeed(t *testing.T) {
	draw := func(seed uint64, name string) string {
		p := make([]byte, 20)
		newRandom(seed, name).fill(p)
		return fmt.Sprintf("%x", p)
	}
	once, again := draw(1, "client 1"), draw(1, "client 1")
	if once != again {
		t.Error("the same stream differs")
	}
	if draw(1, "client 1") == draw(2, "client 1") || draw(1, "client 1") == draw(1, "client 2") {
		t.Error("different streams are the same")
	}
}
