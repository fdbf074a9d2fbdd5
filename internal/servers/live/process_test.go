//go:build linux

package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// lives are what clients in their own processes do in these tests. The brief names one of
// them, and a file that they may share.
var lives = map[string]func(c *testClient){
	"says what it has":       (*testClient).sayWhatItHas,
	"is killed":              (*testClient).beKilled,
	"looks at its clocks":    (*testClient).lookAtClocks,
	"sleeps while it sleeps": (*testClient).sleepSuspended,
	"talks":                  (*testClient).talk,
	"panics":                 func(c *testClient) { panic("out of luck") },
	"goes":                   func(c *testClient) { fmt.Fprintln(os.Stderr, "I have had enough"); os.Exit(3) },
	"lives on":               func(c *testClient) { c.sleep(time.Hour) },
}

// testClient is a client in its own process.
type testClient struct {
	*Remote
	file string
}

// runTestClient makes the test binary a client, if it was started as one.
func runTestClient() {
	BeClient(nil, func(r *Remote, brief []byte) (func(), error) {
		name, file, _ := strings.Cut(string(brief), "\n")
		live, ok := lives[name]
		if !ok {
			return nil, fmt.Errorf("nobody %s", name)
		}
		return func() { live(&testClient{r, file}) }, nil
	})
}

func (c *testClient) sleep(d time.Duration) {
	m := c.Runtime(0)
	_ = m.Sleep(context.Background(), m.Now(env.Monotonic).Add(d))
}

func (c *testClient) say(what ...any) {
	c.Record(history.Event{Kind: history.Step, Client: c.Number(), Detail: fmt.Sprint(what...)})
}

// first and second are the numbers of the clients in tests of two.
const first, second = 1, 2

func (c *testClient) reach(step env.Step) { c.Reach(c.Number(), step, 0) }

// runApart runs clients and checks what is true of any history.
func (w *testWorld) runApart(live, file string) error {
	w.t.Helper()
	err := w.RunProcesses(w.t.Context(), []byte(live+"\n"+file))
	w.check()
	if left := clientsBelow(os.Getenv("TMPDIR")); len(left) > 0 {
		w.t.Errorf("clients that live on: %v", left)
	}
	return err
}

func (w *testWorld) mustRunProcesses(live, file string) {
	w.t.Helper()
	if err := w.runApart(live, file); err != nil {
		w.t.Fatal(err)
	}
}

// details are the details of events, in the order of the history.
func (w *testWorld) details(client int) (list []string) {
	for _, e := range *w.log {
		if e.Kind == history.Step && (client == 0 || e.Client == client) {
			list = append(list, e.Detail)
		}
	}
	return list
}

func (w *testWorld) wantDetails(client int, want ...string) {
	w.t.Helper()
	if got := w.details(client); !slices.Equal(got, want) {
		w.t.Errorf("client %d says\n%q, want\n%q", client, got, want)
	}
}

// clientsBelow returns the processes of clients with this directory for temporary files.
func clientsBelow(temp string) (pids []int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		text, err := os.ReadFile(name)
		if vars := strings.Split(string(text), "\x00"); err == nil && slices.Contains(vars, clientEnv+"=1") && slices.Contains(vars, "TMPDIR="+temp) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (c *testClient) sayWhatItHas() {
	r := c.Register(0)
	m := c.Runtime(0)
	if c.Number() == second {
		for v, err := r.Read(context.Background(), env.Access{Resource: "r"}); v != 7 && err == nil; v, err = r.Read(context.Background(), env.Access{Resource: "r"}) {
			c.sleep(time.Millisecond)
		}
	}
	drawn := make([]byte, 8)
	m.Random(drawn)
	c.say(fmt.Sprintf("%x", drawn))
	round := c.Nodes(0).Send(env.AllNodes(c.Nodes(0).Len()), env.Command{Op: env.OpSet, Key: "key", Token: "a", TTL: time.Hour}, m.Now(env.Monotonic).Add(patience))
	for range c.Nodes(0).Len() {
		reply, err := round.Next(context.Background(), env.Never)
		c.say(reply.Answer, err)
	}
	fence, err := r.Fence(context.Background(), "r")
	c.say(fence, err)
	c.say(r.Write(context.Background(), env.Access{Resource: "r"}, 7))
}

// A client in its own process has the same random stream, servers and shared resource.
func TestClientApartHasWhatItHasHere(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Nodes: 2, Clients: 2})
	w.mustRunProcesses("says what it has", "")
	for client, answer := range map[int]string{first: "yes", second: "no"} {
		drawn := make([]byte, 8)
		newRandom(1, fmt.Sprint("client ", client)).fill(drawn)
		w.wantDetails(client, fmt.Sprintf("%x", drawn), answer+" <nil>", answer+" <nil>", fmt.Sprint(client, " <nil>"), "<nil>")
	}
	applied := w.event(history.Apply)
	if applied.Client != first || applied.Value != 7 {
		t.Errorf("%+v", applied)
	}
}

func (c *testClient) beKilled() {
	r := c.Register(0)
	if c.Number() == second {
		for v, err := r.Read(context.Background(), env.Access{Resource: "r"}); v != 7 && err == nil; v, err = r.Read(context.Background(), env.Access{Resource: "r"}) {
			c.sleep(time.Millisecond)
		}
		c.say("the write has come")
		return
	}
	m := c.Runtime(0)
	waiting, giveUp := context.WithCancel(context.Background())
	m.Go("give up", func() { c.sleep(20 * time.Millisecond); giveUp() })
	c.say(r.Write(waiting, env.Access{Resource: "r"}, 7))
	c.reach(begin)
	c.say("is dead")
}

// A kill is SIGKILL: reports sent before are recorded, and requests sent before arrive.
func TestKillOfAClientApart(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Clients: 2, Plan: nemesis.Plan{
		{Action: &nemesis.GuardLatency{Clients: []int{first}, Add: nemesis.Distribution{Range: nemesis.Range{Min: 300 * time.Millisecond, Max: 300 * time.Millisecond}}}},
		{Action: &nemesis.Kill{Client: first}, Start: nemesis.When(first, begin, 0)},
	}})
	w.mustRunProcesses("is killed", "")
	w.wantKinds(history.FaultStart, history.Step, history.FaultStart, history.Kill, history.Apply, history.Step)
	w.wantDetails(0, "context canceled", "the write has come")
}

func (c *testClient) lookAtClocks() {
	m := c.Runtime(0)
	before := m.Now(env.Wall)
	c.Watch(c.Number(), env.Wall, "r", "in an hour", before.Add(slack))
	c.Watch(c.Number(), env.Wall, "r", "in a day", before.Add(24*slack))
	c.reach(begin)
	c.say(m.Now(env.Wall).Sub(before).Truncate(slack))
}

// A client in its own process sees a change of its clocks as soon as the step that triggers
// it has returned, and the history records leases that end by it.
func TestClocksOfAClientApart(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{{Action: &nemesis.ClockJump{Machine: client1, By: 2 * slack}, Start: nemesis.When(first, begin, 0)}}})
	w.mustRunProcesses("looks at its clocks", "")
	w.wantKinds(history.FaultStart, history.Lapse, history.Step)
	w.wantDetails(first, "2h0m0s")
	if e := w.event(history.Lapse); e.Token != "in an hour" {
		t.Errorf("%+v", e)
	}
}

func (c *testClient) sleepSuspended() {
	m := c.Runtime(0)
	if c.Number() == second {
		c.reach(begin)
		c.sleep(50 * time.Millisecond)
		c.reach(end)
		return
	}
	for range 3 {
		until := m.Now(env.Monotonic).Add(40 * time.Millisecond)
		err := m.Sleep(context.Background(), until)
		c.say(m.Now(env.Monotonic) >= until, err)
	}
}

// A client that sleeps while its machine is suspended wakes by its own clock, which stood
// still, and not because the time of another clock was over.
func TestSleepOfASuspendedClientApart(t *testing.T) {
	start, over := nemesis.When(second, begin, 0), nemesis.When(second, end, 0)
	w := newTestWorld(t, nemesis.Setting{Clients: 2, Plan: nemesis.Plan{{Action: &nemesis.Suspend{Client: first}, Start: start, End: &over}}})
	w.mustRunProcesses("sleeps while it sleeps", "")
	w.wantDetails(first, "true <nil>", "true <nil>", "true <nil>")
	w.event(history.Resume)
}

func (c *testClient) talk() {
	for i := range 500 {
		c.say(i)
	}
}

// Reports that several processes send at the same time are all recorded, each process's in
// its order.
func TestClientsApartAreHeardInOrder(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Clients: 3})
	w.mustRunProcesses("talks", "")
	var all []string
	for i := range 500 {
		all = append(all, strconv.Itoa(i))
	}
	for client := 1; client <= 3; client++ {
		w.wantDetails(client, all...)
	}
}

// A client process that ends by itself is an error with the end of its output.
func TestClientApartThatDiesOfItself(t *testing.T) {
	for live, want := range map[string][]string{
		"panics":   {"client 1", "exit status 2", "panic: out of luck"},
		"goes":     {"client 1", "exit status 3", "I have had enough"},
		"is there": {"client 1", "exit status 1", "nobody is there"},
	} {
		t.Run(live, func(t *testing.T) {
			err := newTestWorld(t, nemesis.Setting{}).RunProcesses(t.Context(), []byte(live))
			for _, part := range want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v: no %q in it", err, part)
				}
			}
		})
	}
}

// A program that does not call BeClient would start itself for ever.
func TestClientApartHasNoClients(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{})
	t.Setenv(clientEnv, "1")
	if err := w.RunProcesses(t.Context(), nil); err == nil || !strings.Contains(err.Error(), clientEnv) {
		t.Error(err)
	}
}

// The run ends in time, even if clients are still there or stopped.
func TestRunProcessesEndsAtTheHorizon(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Clients: 2, Horizon: 200 * time.Millisecond, Plan: nemesis.Plan{{Action: &nemesis.Pause{Client: first}}}})
	w.mustRunProcesses("lives on", "")
	w.wantKinds(history.FaultStart, history.Pause)
	if err := w.RunProcesses(t.Context(), []byte("lives on")); err == nil {
		t.Error("a world ran twice")
	}
}

func TestMain(m *testing.M) {
	runTestClient()
	os.Exit(m.Run())
}
