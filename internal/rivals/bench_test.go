package rivals_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

const ms = time.Millisecond

// maker makes the mutex of one client.
type maker func(rivals.Config, rivals.Ports) (*rivals.Mutex, error)

// oneKey are the locks that keep one key on one node.
var oneKey = []struct {
	name      string
	make      maker
	roundtrip int  // to be granted
	expires   bool // the key has a time to live
	extends   bool // a hold can be extended
	steps     string
}{
	{"check-then-set", rivals.NewCheckThenSet, 2, false, false,
		"acquire before-send reply 1 (get) reply 2 (put) granted before-release reply 3 (remove) released"},
	{"setnx-then-expire", rivals.NewSetNXThenExpire, 2, true, false,
		"acquire before-send reply 1 (add) reply 2 (expire) before-check after-check granted before-release reply 3 (remove) released"},
	{"setnx-del", rivals.NewSetNXDel, 1, true, false,
		"acquire before-send reply 1 (set) before-check after-check granted before-release reply 2 (remove) released"},
	{"get-then-del", rivals.NewGetThenDel, 1, true, false,
		"acquire before-send reply 1 (set) before-check after-check granted before-release reply 2 (get) reply 3 (remove) released"},
	{"single-node", rivals.NewSingleNode, 1, true, true,
		"acquire before-send reply 1 (set) before-check after-check granted before-release reply 2 (delete) released"},
}

// bench is a simulated world in which every message takes a millisecond, and the
// mutex of each client.
type bench struct {
	*sim.World
	t   *testing.T
	log history.Log
}

// config has a validity of 1000 − 12 = 988 ms.
func config() rivals.Config {
	return rivals.Config{
		TTL: time.Second, Allowance: 12 * ms, NodeTimeout: 50 * ms, Margin: 88 * ms,
		RetryMin: 5 * ms, RetryMax: 20 * ms,
	}
}

// play runs one function for each client under a plan, and returns the bench with
// its history.
func play(t *testing.T, makes maker, plan nemesis.Plan, mains ...func(*bench, *rivals.Mutex)) *bench {
	t.Helper()
	return playOn(t, 1, func(b *bench, client int) {
		m, err := makes(config(), rivals.Ports{Runtime: b.Runtime(client), Nodes: b.Nodes(client), Observer: observer{b.World, client}})
		if err != nil {
			t.Error(err)
			return
		}
		mains[client-1](b, m)
	}, len(mains), plan)
}

// playOn runs the clients in a world of so many nodes.
func playOn(t *testing.T, nodes int, main func(b *bench, client int), clients int, plan nemesis.Plan) *bench {
	t.Helper()
	s := nemesis.Setting{
		Nodes: nodes, Clients: clients, Persistence: nemesis.Nothing,
		Latency: nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: ms}}, Horizon: 20 * time.Second, Plan: plan,
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t}
	w, err := sim.Open(context.Background(), s, 1, &b.log)
	if err != nil {
		t.Fatal(err)
	}
	b.World = w
	if err := w.Run(context.Background(), func(client int) { main(b, client) }); err != nil {
		t.Fatal(err)
	}
	return b
}

// observer reports every step to the world, and records it.
type observer struct {
	world  *sim.World
	client int
}

func (o observer) Observe(e env.Event) {
	o.world.Record(history.Event{Kind: history.Step, Client: o.client, Name: e.Step.String(), K: e.K, Detail: detail(e)})
	o.world.Reach(o.client, e.Step, e.K)
}

func detail(e env.Event) string {
	if e.Step == env.StepReply {
		return e.Op.String()
	}
	return ""
}

func (b *bench) sleep(client int, d time.Duration) {
	r := b.Runtime(client)
	_ = r.Sleep(context.Background(), r.Now(env.Monotonic).Add(d))
}

// at returns the time since the start of the run.
func (b *bench) at() time.Duration { return time.Duration(b.Runtime(1).Now(env.Monotonic)) }

func (b *bench) lock(m *rivals.Mutex) *rivals.Hold {
	b.t.Helper()
	h, err := m.Lock(context.Background(), "r")
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

// keys tells what became of keys, as in "set by 1@2ms, deleted by 1@4ms".
func (b *bench) keys() string {
	var list []string
	for _, e := range b.log {
		switch e.Kind {
		case history.KeySet:
			list = append(list, fmt.Sprintf("set by %d@%v", e.Client, e.Time))
		case history.KeyExtended:
			list = append(list, fmt.Sprintf("extended by %d@%v", e.Client, e.Time))
		case history.KeyGone:
			list = append(list, fmt.Sprintf("%s by %d@%v", e.Reason, e.Client, e.Time))
		}
	}
	return strings.Join(list, ", ")
}

// steps lists those of a client, as in "acquire before-send reply 1 (set) granted".
func (b *bench) steps(client int) string {
	var list []string
	for _, e := range b.log {
		switch {
		case e.Kind != history.Step || e.Client != client:
		case e.K != 0:
			list = append(list, fmt.Sprintf("%s %d (%s)", e.Name, e.K, e.Detail))
		default:
			list = append(list, e.Name)
		}
	}
	return strings.Join(list, " ")
}

func (b *bench) want(what string, got, want any) {
	b.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func (b *bench) wantError(what string, got, want error) {
	b.t.Helper()
	if !errors.Is(got, want) {
		b.t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

// pause stops a client at a step, for a time.
func pause(at nemesis.Trigger, length time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Pause{Client: at.Client}, Start: at, End: nemesis.After(length)}
}

// reply is the moment at which a client has the k-th reply to a try and its hold.
func reply(client, k int) nemesis.Trigger {
	m := nemesis.When(client, env.StepReply, 0)
	m.K = k
	return m
}
