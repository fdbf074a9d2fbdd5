package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

const ms = time.Millisecond

// bench is a simulated world with five nodes, a millisecond away each, and the
// mutex of each client.
type bench struct {
	*sim.World
	t   *testing.T
	log history.Log
}

// config has a validity of 1000 − 10 − 2 = 988 ms.
func config() redlock.Config {
	return redlock.Config{
		TTL: time.Second, DriftFactor: 0.01, NodeTimeout: 50 * ms, Linger: 200 * ms, Margin: 88 * ms,
		RetryMin: 5 * ms, RetryMax: 20 * ms,
	}
}

// play runs one function for each client under a plan, and returns the bench
// with its history.
func play(t *testing.T, plan nemesis.Plan, mains ...func(*bench, *redlock.Mutex)) *bench {
	return playWith(t, config(), 5, plan, mains...)
}

func playWith(t *testing.T, c redlock.Config, nodes int, plan nemesis.Plan, mains ...func(*bench, *redlock.Mutex)) *bench {
	t.Helper()
	return playVariant(t, func(*redlock.Config, *env.Runtime, *env.Nodes) {}, c, nodes, plan, mains...)
}

// variant changes what a lock is built on.
type variant func(*redlock.Config, *env.Runtime, *env.Nodes)

func playVariant(t *testing.T, v variant, c redlock.Config, nodes int, plan nemesis.Plan, mains ...func(*bench, *redlock.Mutex)) *bench {
	t.Helper()
	s := nemesis.Setting{
		Nodes: nodes, Clients: len(mains), Persistence: nemesis.Nothing,
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
	err = w.Run(context.Background(), func(client int) {
		config, runtime, nodes := c, env.Runtime(w.Runtime(client)), env.Nodes(w.Nodes(client))
		v(&config, &runtime, &nodes)
		m, err := redlock.New(config, runtime, nodes, observer{w, client})
		if err != nil {
			t.Error(err)
			return
		}
		mains[client-1](b, m)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// observer reports every step to the world, and records it by name.
type observer struct {
	world  *sim.World
	client int
}

func (o observer) Observe(e env.Event) {
	o.world.Record(history.Event{Kind: history.Step, Client: o.client, Name: e.Step.String()})
	o.world.Reach(o.client, e.Step, e.K)
}

func (b *bench) sleep(client int, d time.Duration) {
	r := b.Runtime(client)
	_ = r.Sleep(context.Background(), r.Now(env.Monotonic).Add(d))
}

// at returns the time since the start of the run.
func (b *bench) at() time.Duration { return time.Duration(b.Runtime(1).Now(env.Monotonic)) }

// keys returns how many nodes hold a key at the end.
func (b *bench) keys() int {
	n := 0
	for _, e := range b.log {
		switch e.Kind {
		case history.KeySet:
			n++
		case history.KeyGone:
			n--
		}
	}
	return n
}

// steps returns when the client took a step, as in "2ms 5ms".
func (b *bench) steps(client int, step env.Step) string {
	var list []string
	for _, e := range b.log {
		if e.Kind == history.Step && e.Client == client && e.Name == step.String() {
			list = append(list, e.Time.String())
		}
	}
	return strings.Join(list, " ")
}

func (b *bench) want(what string, got, want any) {
	b.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (b *bench) wantError(what string, got, want error) {
	b.t.Helper()
	if !errors.Is(got, want) {
		b.t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

func lock(b *bench, m *redlock.Mutex) *redlock.Hold {
	b.t.Helper()
	h, err := m.Lock(context.Background(), "r")
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

func partition(nodes []int, start nemesis.Trigger, end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: nodes}}, Start: start, End: end}
}

func crash(node int, start nemesis.Trigger, end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: start, End: end}
}

func TestLockAndRelease(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		ctx, cancel := context.WithCancel(context.Background())
		h, err := m.Lock(ctx, "r")
		b.wantError("lock", err, nil)
		cancel() // the context of Lock limits the acquisition, not the hold
		b.wantError("context", h.Context().Err(), nil)
		b.want("until", time.Duration(h.Until()), 988*ms)
		b.want("granted after a round trip", b.at(), 2*ms)
		b.want("token length", len(h.Token()), 40)
		b.wantError("release", h.Release(context.Background()), nil)
		b.wantError("release twice", h.Release(context.Background()), redlock.ErrReleased)
		b.wantError("cause", context.Cause(h.Context()), redlock.ErrReleased)
		b.wantError("close", m.Close(context.Background()), nil)
		_, err = m.TryLock(context.Background(), "r")
		b.wantError("try after close", err, redlock.ErrClosed)
	})
	b.want("keys left", b.keys(), 0)
}

func TestTakenLeavesTheOthersKeysAlone(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 100*ms)
		b.wantError("release", h.Release(context.Background()), nil)
	}, func(b *bench, m *redlock.Mutex) {
		b.sleep(2, 10*ms)
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("second", err, redlock.ErrTaken)
		h, err := m.Lock(context.Background(), "r")
		b.wantError("lock", err, nil)
		b.wantError("release", h.Release(context.Background()), nil)
		b.wantError("close", m.Close(context.Background()), nil)
	})
	b.want("keys left", b.keys(), 0)
}

func TestTriesAreBounded(t *testing.T) {
	c := config()
	c.Tries = 3
	b := playWith(t, c, 5, nemesis.Plan{crash(1, nemesis.At(0), nil), crash(2, nemesis.At(0), nil), crash(3, nemesis.At(0), nil)},
		func(b *bench, m *redlock.Mutex) {
			b.sleep(1, ms)
			_, err := m.Lock(context.Background(), "r")
			b.wantError("lock", err, redlock.ErrNoQuorum)
			b.wantError("close", m.Close(context.Background()), nil)
		})
	b.want("tries", len(strings.Fields(b.steps(1, env.StepAcquire))), 3)
	b.want("keys left", b.keys(), 0)
}

// Keys that were set are deleted though the caller has cancelled.
func TestCancelledAcquireCleansUp(t *testing.T) {
	b := play(t, nemesis.Plan{partition([]int{3, 4, 5}, nemesis.At(0), nemesis.After(100*ms))}, func(b *bench, m *redlock.Mutex) {
		ctx, cancel := context.WithCancel(context.Background())
		b.Runtime(1).Go("canceller", func() {
			b.sleep(1, 10*ms)
			cancel()
		})
		_, err := m.Lock(ctx, "r")
		b.wantError("lock", err, context.Canceled)
		b.want("returned at once", b.at(), 10*ms)
		b.wantError("close", m.Close(context.Background()), nil)
	})
	b.want("keys left", b.keys(), 0)
}

// A quorum that comes when the validity is over is no grant.
func TestQuorumTooLate(t *testing.T) {
	c := config()
	c.NodeTimeout, c.Linger = 5*time.Second, 5*time.Second
	slow := nemesis.Fault{
		Action: &nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Min: 500 * ms, Max: 500 * ms}}},
		Start:  nemesis.At(0), End: &nemesis.Trigger{At: 990 * ms},
	}
	playWith(t, c, 5, nemesis.Plan{slow}, func(b *bench, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("lock", err, redlock.ErrValidity)
	})
}

func TestContextEndsAMarginBeforeTheValidity(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		_ = b.Runtime(1).Sleep(h.Context(), env.Never)
		b.want("context ended", b.at(), 900*ms)
		b.wantError("cause", context.Cause(h.Context()), redlock.ErrExpiring)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrExpiring)
		b.wantError("release in time", h.Release(context.Background()), nil)
	})
	b.want("told once", b.steps(1, env.StepExpiring), "900ms")
}

func TestExtend(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 498*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), nil)
		b.want("until", time.Duration(h.Until()), 1488*ms)
		b.wantError("extend to less", h.Extend(context.Background(), 100*ms), nil)
		b.want("until, not shortened", time.Duration(h.Until()), 1488*ms)
		b.wantError("impossible TTL", h.Extend(context.Background(), 0), redlock.ErrConfig)
		_ = b.Runtime(1).Sleep(h.Context(), env.Never)
		b.want("context ended", b.at(), 1400*ms)
		b.wantError("release", h.Release(context.Background()), nil)
		b.wantError("extend what is released", h.Extend(context.Background(), time.Second), redlock.ErrReleased)
	})
	b.want("told once", b.steps(1, env.StepExpiring), "1.4s")
}

// Only an extension to the lock's own TTL, the longest of all, may set the life of a key. A shorter one raises it.
// A longer one is refused: a SET that arrives late would take back what it has won.
func TestNativeExtension(t *testing.T) {
	c := config()
	c.NativeCommands = true
	counting := &sends{}
	playVariant(t, func(_ *redlock.Config, _ *env.Runtime, n *env.Nodes) { counting.Nodes, *n = *n, counting }, c, 5, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 498*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), nil)
		b.want("until", time.Duration(h.Until()), 1488*ms)
		b.want("native extensions", counting.native[env.OpExtend], 1)
		b.sleep(1, 10*ms)
		b.wantError("extend to less", h.Extend(context.Background(), 100*ms), nil)
		b.wantError("extend to more", h.Extend(context.Background(), time.Second+ms), redlock.ErrConfig)
		b.want("extensions and native ones", []int{counting.of[env.OpExtend], counting.native[env.OpExtend]}, []int{2, 1})
		b.sleep(1, 900*ms)
		other := lockAs(b, m)
		b.wantError("the keys have lived as long as the first extension said", other, redlock.ErrTaken)
		b.wantError("release", h.Release(context.Background()), nil)
		b.want("native deletes", counting.native[env.OpDelete] == counting.of[env.OpDelete], true)
	})
}

// lockAs tries once to lock the resource again.
func lockAs(b *bench, m *redlock.Mutex) error {
	_, err := m.TryLock(context.Background(), "r")
	return err
}

// Nodes that cannot be reached do not lose the lock; it goes on to its old end.
func TestExtendWithoutQuorum(t *testing.T) {
	b := play(t, nemesis.Plan{partition([]int{1, 2, 3}, nemesis.At(100*ms), nil)}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 200*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrNoQuorum)
		b.want("until", time.Duration(h.Until()), 988*ms)
		b.wantError("context", h.Context().Err(), nil)
	})
	b.want("keys", b.keys(), 5)
}

// If a majority has forgotten the lock it is lost: the holder is notified, no key is set again, and
// none is deleted.
func TestExtendOfWhatIsGone(t *testing.T) {
	var plan nemesis.Plan
	for n := 1; n <= 3; n++ {
		plan = append(plan, crash(n, nemesis.At(100*ms), nemesis.After(10*ms)))
	}
	b := play(t, plan, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 200*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrLost)
		b.wantError("cause", context.Cause(h.Context()), redlock.ErrLost)
		b.sleep(1, 10*ms)
	})
	b.want("told", b.steps(1, env.StepLost), "206ms") // a restarted node has to be sent the script
	b.want("keys of nodes 4 and 5", b.keys(), 2)
}

// Replies to an extension that are read after the old end are no extension,
// though every one says yes: the keys may have been another's in between.
func TestExtendReadTooLate(t *testing.T) {
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepExtend, 500*time.Microsecond), End: &nemesis.Trigger{At: 1100 * ms}}
	b := play(t, nemesis.Plan{pause}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 498*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrLost)
		b.want("went on", b.at(), 1100*ms)
		b.wantError("cause", context.Cause(h.Context()), redlock.ErrLost)
		b.wantError("extend again", h.Extend(context.Background(), time.Second), redlock.ErrLost)
	})
	b.want("told", b.steps(1, env.StepLost), "1.1s")
}

// Nothing is sent for a hold whose end has passed unseen.
func TestExtendAfterTheEnd(t *testing.T) {
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepExtend, 0), End: &nemesis.Trigger{At: 1100 * ms}}
	b := play(t, nemesis.Plan{pause}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrLost)
	})
	b.want("replies after the acquisition", len(strings.Fields(b.steps(1, env.StepReply))), 3)
}

// An extension that is under way when the warning is due may still succeed;
// the warning then comes before the new end, and otherwise at once.
func TestExtendAcrossTheMargin(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 897*ms) // the warning is due at 900 ms, the extension is over at 901 ms
		b.wantError("extend", h.Extend(context.Background(), time.Second), nil)
		_ = b.Runtime(1).Sleep(h.Context(), env.Never)
	})
	b.want("warned", b.steps(1, env.StepExpiring), "1.799s")

	b = play(t, nemesis.Plan{partition([]int{1, 2, 3}, nemesis.At(100*ms), nil)}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 897*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrNoQuorum)
		b.wantError("cause", context.Cause(h.Context()), redlock.ErrExpiring)
	})
	b.want("warned when the extension failed", b.steps(1, env.StepExpiring), "949ms")
}

// Law: an extension is in progress until its observer has returned from its outcome, even if the
// observer blocks there. (A hunt found that another one began meanwhile.)
func TestAnExtensionLastsUntilItIsTold(t *testing.T) {
	stands := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepExtended, 0), End: nemesis.After(10 * ms)}
	play(t, nemesis.Plan{stands}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		told := false
		other := b.Runtime(1).Go("other", func() {
			b.wantError("first", h.Extend(context.Background(), time.Second), nil)
			told = true
		})
		b.sleep(1, 5*ms) // the first is over, and the client stands still
		if err := h.Extend(context.Background(), time.Second); told || !errors.Is(err, redlock.ErrExtending) {
			t.Errorf("the first has been told: %v; the second ends with %v, want %v", told, err, redlock.ErrExtending)
		}
		_ = other.Wait(context.Background())
		b.wantError("third", h.Extend(context.Background(), time.Second), nil)
	})
}

// A silent node costs the node timeout, and no more. The error of the try names it.
func TestSilentNodesCostTheNodeTimeout(t *testing.T) {
	play(t, nemesis.Plan{partition([]int{1, 2, 3}, nemesis.At(0), nil)}, func(b *bench, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("lock", err, redlock.ErrNoQuorum)
		b.want("returned", b.at(), 50*ms)
		for _, node := range []string{"node 1", "node 2", "node 3"} {
			b.want(node+" is in the error", strings.Contains(err.Error(), node), true)
		}
	})
}

// What cannot be is refused before anything is sent.
func TestNewRefusesTheImpossible(t *testing.T) {
	five, onWall := config(), config()
	five.Quorum = env.Majority(5)
	onWall.Clock = env.Wall
	for want, c := range map[string]redlock.Config{"node timeout 0s": {}, "node 4 is to vote, of 3 nodes": five, "clock": onWall} {
		wantRefused(t, c, want)
	}
}

func wantRefused(t *testing.T, c redlock.Config, want string) {
	t.Helper()
	w, err := sim.Open(context.Background(), nemesis.Setting{Nodes: 3, Clients: 1, Horizon: 1}, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := redlock.New(c, w.Runtime(1), w.Nodes(1), nil); !errors.Is(err, redlock.ErrConfig) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// Two clients that wait at the same time draw different delays, or they collide for ever: the
// lock has no source of delays but the runtime of its client. (Planted defect 32.)
func TestClientsDrawDifferentDelays(t *testing.T) {
	c := config()
	c.Tries = 20
	plan := nemesis.Plan{crash(1, nemesis.At(0), nil), crash(2, nemesis.At(0), nil), crash(3, nemesis.At(0), nil)}
	contend := func(b *bench, m *redlock.Mutex) {
		_, err := m.Lock(context.Background(), "r")
		b.wantError("lock", err, redlock.ErrNoQuorum)
	}
	b := playWith(t, c, 5, plan, contend, contend)
	first, second := b.steps(1, env.StepAcquire), b.steps(2, env.StepAcquire)
	b.want("tries of each client", []int{len(strings.Fields(first)), len(strings.Fields(second))}, []int{20, 20})
	if first == second {
		t.Errorf("both clients try at %s", first)
	}
}

// A delete without a reply is sent again with its token, so that it cannot delete the key of
// the next holder. (Planted defect 35.)
func TestLostDeleteIsSentAgain(t *testing.T) {
	for next, left := range map[string]int{"": 0, "another": 1} {
		b := play(t, nil, func(b *bench, _ *redlock.Mutex) {
			m, err := redlock.New(config(), b.Runtime(1), &losing{Nodes: b.Nodes(1), next: next}, nil)
			b.wantError("new", err, nil)
			h := lock(b, m)
			b.sleep(1, 10*ms) // no straggler is left, whose key would be deleted anyway
			b.wantError("release", h.Release(context.Background()), nil)
			b.wantError("close", m.Close(context.Background()), nil)
		})
		b.want("keys left, where the next holder is "+next, b.keys(), left)
	}
}

// losing loses the first delete for node 5 on its way. If next is not empty, node 5 then gives
// the key to that token.
type losing struct {
	env.Nodes
	next string
	lost bool
}

func (l *losing) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	if c.Op != env.OpDelete || l.lost {
		return l.Nodes.Send(to, c, giveUp)
	}
	l.lost = true
	if l.next != "" {
		l.Nodes.Send(env.SetOf(5), env.Command{Op: env.OpPut, Key: c.Key, Token: l.next}, giveUp)
	}
	return &losingRound{Round: l.Nodes.Send(to.Without(5), c, giveUp)}
}

type losingRound struct {
	env.Round
	told bool
}

func (r *losingRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	reply, err := r.Round.Next(ctx, until)
	if errors.Is(err, env.ErrRoundOver) && !r.told {
		r.told = true
		return env.Reply{Node: 5, Answer: env.Lost}, nil
	}
	return reply, err
}

func TestCloseTellsHolders(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.wantError("close", m.Close(context.Background()), nil)
		b.wantError("cause", context.Cause(h.Context()), redlock.ErrClosed)
	})
	b.want("keys stay until they expire", b.keys(), 5)
}

// A try that is under way when the mutex is closed ends as it may; Close waits
// for it and tells its holder.
func TestCloseDuringATry(t *testing.T) {
	play(t, nil, func(b *bench, m *redlock.Mutex) {
		var hold *redlock.Hold
		b.Runtime(1).Go("other", func() { hold = lock(b, m) })
		b.sleep(1, 500*time.Microsecond)
		b.wantError("close", m.Close(context.Background()), nil)
		if hold == nil {
			b.t.Fatal("close did not wait for the try")
		}
		b.wantError("cause", context.Cause(hold.Context()), redlock.ErrClosed)
	})
}

// Close waits no longer than its context.
func TestCloseGivesUp(t *testing.T) {
	play(t, nemesis.Plan{partition([]int{1, 2}, nemesis.At(0), nil)}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		_ = h.Release(context.Background())
		ctx, cancel := context.WithCancel(context.Background())
		b.Runtime(1).Go("canceller", func() {
			b.sleep(1, 10*ms)
			cancel()
		})
		b.wantError("close", m.Close(ctx), context.Canceled)
	})
}

// The steps come in their order, each where it is named.
func TestSteps(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		_ = h.Release(context.Background())
	})
	var names []string
	for _, e := range b.log {
		if e.Kind == history.Step {
			names = append(names, e.Name)
		}
	}
	b.want("steps", strings.Join(names, " "),
		"acquire before-send reply reply reply quorum before-check after-check granted before-release reply reply reply released")
}

func TestWithLock(t *testing.T) {
	oh := errors.New("oh")
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		ctx := context.Background()
		b.wantError("nothing to say", m.WithLock(ctx, "r", func(ctx context.Context) error { return ctx.Err() }), nil)
		b.wantError("the error of the work", m.WithLock(ctx, "r", func(context.Context) error { return oh }), oh)

		late := m.WithLock(ctx, "r", func(context.Context) error { b.sleep(1, 950*ms); return oh })
		b.wantError("work past the warning", late, redlock.ErrExpiring)
		b.wantError("and its own error", late, oh)

		tooLate := m.WithLock(ctx, "r", func(context.Context) error { b.sleep(1, 2*time.Second); return nil })
		b.wantError("work past the end", tooLate, redlock.ErrExpiring)
		b.wantError("and the loss", tooLate, redlock.ErrLost)
		b.sleep(1, time.Second)
	})
	b.want("keys left", b.keys(), 0)
}

// WithLock reports a loss also to a holder that was warned before, cancelled, or cut off from the
// nodes.
func TestWithLockReportsTheLoss(t *testing.T) {
	work := func(b *bench, m *redlock.Mutex, d time.Duration) error {
		return m.WithLock(context.Background(), "r", func(context.Context) error { b.sleep(1, d); return nil })
	}
	cut := partition([]int{1, 2, 3, 4, 5}, nemesis.At(500*ms), &nemesis.Trigger{At: 3 * time.Second})
	for name, c := range map[string]struct {
		plan nemesis.Plan
		call func(*bench, *redlock.Mutex) error
		want []error
	}{
		"another client acquires it after the warning": {
			plan: nemesis.Plan{crash(1, nemesis.At(910*ms), nemesis.After(ms)), crash(2, nemesis.At(910*ms), nemesis.After(ms)), crash(3, nemesis.At(910*ms), nemesis.After(ms))},
			call: func(b *bench, m *redlock.Mutex) error { return work(b, m, 950*ms) },
			want: []error{redlock.ErrExpiring, redlock.ErrLost},
		},
		"cut off until the end": {
			plan: nemesis.Plan{cut},
			call: func(b *bench, m *redlock.Mutex) error { return work(b, m, 2*time.Second) },
			want: []error{redlock.ErrExpiring, redlock.ErrLost, redlock.ErrNoQuorum},
		},
		"cut off, and cancelled": {
			plan: nemesis.Plan{cut},
			call: func(b *bench, m *redlock.Mutex) error {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				return m.WithLock(ctx, "r", func(ctx context.Context) error { cancel(); b.sleep(1, 2*time.Second); return ctx.Err() })
			},
			want: []error{context.Canceled, redlock.ErrLost, redlock.ErrNoQuorum},
		},
		"closed in time": {
			call: func(_ *bench, m *redlock.Mutex) error {
				return m.WithLock(context.Background(), "r", func(context.Context) error {
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					_ = m.Close(ctx)
					return nil
				})
			},
			want: []error{redlock.ErrClosed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, c.plan, func(b *bench, m *redlock.Mutex) {
				err := c.call(b, m)
				for _, known := range []error{redlock.ErrExpiring, redlock.ErrLost, redlock.ErrNoQuorum, redlock.ErrClosed, context.Canceled} {
					b.want(known.Error(), errors.Is(err, known), slices.Contains(c.want, known))
				}
			}, func(b *bench, m *redlock.Mutex) {
				b.sleep(2, 920*ms)
				h, err := m.Lock(context.Background(), "r")
				b.wantError("lock of another client", err, nil)
				b.wantError("its release", h.Release(context.Background()), nil)
			})
		})
	}
}

// The context of the work ends with the caller's, and the lock is released all
// the same.
func TestWithLockIsCancelled(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		ctx, cancel := context.WithCancel(context.Background())
		r := b.Runtime(1)
		r.Go("canceller", func() { b.sleep(1, 50*ms); cancel() })
		err := m.WithLock(ctx, "r", func(ctx context.Context) error {
			return r.Sleep(ctx, env.Never)
		})
		b.wantError("work", err, context.Canceled)
		b.want("time", b.at() < 60*ms, true)
		b.sleep(1, 100*ms)
		b.want("keys left", b.keys(), 0)
		b.wantError("not even begun", m.WithLock(ctx, "r", func(context.Context) error {
			t.Error("called")
			return nil
		}), context.Canceled)
	})
	b.want("keys left", b.keys(), 0)
}

func TestWithLockReleasesInAPanic(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		func() {
			defer func() { _ = recover() }()
			_ = m.WithLock(context.Background(), "r", func(context.Context) error { panic("oh") })
		}()
		b.sleep(1, 100*ms)
	})
	b.want("keys left", b.keys(), 0)
}

func TestLockAllOrNothing(t *testing.T) {
	c := config()
	c.Tries = 1
	b := playWith(t, c, 5, nil, func(b *bench, m *redlock.Mutex) {
		ctx := context.Background()
		taken, err := m.Lock(ctx, "b")
		b.wantError("lock", err, nil)
		_, err = m.LockAll(ctx, "c", "b", "a")
		b.wantError("one is taken", err, redlock.ErrTaken)
		b.want("its name is told", err.Error()[:4], `"b":`)
		b.wantError("release", taken.Release(ctx), nil)
		b.sleep(1, 50*ms)
		b.want("keys left", b.keys(), 0)

		_, err = m.LockAll(ctx)
		b.wantError("none is named", err, redlock.ErrConfig)

		holds, err := m.LockAll(ctx, "c", "b", "a", "b")
		b.wantError("all", err, nil)
		b.want("holds", len(holds.Each()), 3)
		first, until := holds.Each()[0], holds.Until()
		b.want("order", first.Resource(), "a")
		b.want("the earliest end", until, first.Until())
		b.sleep(1, 100*ms)
		b.wantError("extend", holds.Extend(ctx, time.Second), nil)
		b.want("later", holds.Until() > until, true)
		b.wantError("one is released", holds.Each()[2].Release(ctx), nil) // the one that Release begins with
		b.wantError("that ends all", context.Cause(holds.Context()), redlock.ErrReleased)
		b.wantError("the rest", holds.Release(ctx), redlock.ErrReleased)
		b.sleep(1, 100*ms)
	})
	b.want("keys left", b.keys(), 0)
}

// A lock that is lost while the others are being acquired is worth nothing.
func TestLockAllThatLosesOne(t *testing.T) {
	c := config()
	c.TTL, c.Margin = 100*ms, 10*ms
	c.NodeTimeout = 60 * ms
	slow := nemesis.Fault{
		Action: &nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Min: 20 * ms, Max: 20 * ms}}}, Start: nemesis.At(0),
	}
	b := playWith(t, c, 5, nemesis.Plan{slow}, func(b *bench, m *redlock.Mutex) {
		_, err := m.LockAll(context.Background(), "a", "b", "c")
		b.wantError("the first has ended", err, redlock.ErrExpiring)
		b.sleep(1, time.Second)
	})
	b.want("keys left", b.keys(), 0)
}
