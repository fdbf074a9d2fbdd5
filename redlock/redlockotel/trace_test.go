package redlockotel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

func crash(node int, start time.Duration, end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: nemesis.At(start), End: end}
}

// slow delays the requests to a node, and its replies, by so much each.
func slow(node int, by time.Duration) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Latency{Links: nemesis.Links{Nodes: []int{node}}, Add: nemesis.Distribution{Range: nemesis.Range{Min: by, Max: by}}},
		Start:  nemesis.At(0),
	}
}

// A call from another trace is a span of that trace, with a link to the hold.
func TestTraceFromElsewhere(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		other, end := c.request("elsewhere")
		c.ok(h.Extend(other, time.Second))
		c.ok(h.Release(other))
		end()
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(`
redlock acquire [0s..2ms] granted quorum@2ms
	set node 1 [0s..2ms] yes
	set node 2 [0s..2ms] yes
	set node 3 [0s..2ms] yes
	set node 4 [0s..2ms] yes late
	set node 5 [0s..2ms] yes late
	redlock hold [2ms..4ms] released
elsewhere [2ms..6ms]
	redlock extend [2ms..4ms] extended linked
		extend node 1 [2ms..4ms] yes
		extend node 2 [2ms..4ms] yes
		extend node 3 [2ms..4ms] yes
		extend node 4 [2ms..4ms] yes late
		extend node 5 [2ms..4ms] yes late
	redlock release [4ms..6ms] released linked
		delete node 1 [4ms..6ms] yes
		delete node 2 [4ms..6ms] yes
		delete node 3 [4ms..6ms] yes
		delete node 4 [4ms..6ms] yes late
		delete node 5 [4ms..6ms] yes late
`)
}

// A lock that is taken is no error. The deletions of its tries' keys are children of the tries.
func TestTraceOfARefusal(t *testing.T) {
	c := play(t, nemesis.Plan{slow(5, 10*ms)}, func(c *scene, m *redlock.Mutex) {
		c.occupy(4)
		_, err := m.TryLock(context.Background(), "r")
		c.wantError(err, redlock.ErrTaken)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(`
redlock acquire [2ms..4ms] taken
	set node 1 [2ms..4ms] no
	set node 2 [2ms..4ms] no
	set node 3 [2ms..4ms] no
	set node 4 [2ms..4ms] no late
	set node 5 [2ms..24ms] yes late
	delete node 1 [4ms..6ms] no late
	delete node 2 [4ms..6ms] no late
	delete node 3 [4ms..6ms] no late
	delete node 4 [4ms..6ms] no late
	delete node 5 [4ms..26ms] yes late
`)
}

// A try without a quorum is an error in the trace. Deletions on silent nodes are repeated, in spans
// of the try that has ended.
func TestTraceWithoutAQuorum(t *testing.T) {
	c := play(t, nemesis.Plan{crash(1, 0, nil), slow(2, 60*ms), slow(3, 60*ms)}, func(c *scene, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		c.wantError(err, redlock.ErrNoQuorum)
		c.sleep(500 * ms)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(`
redlock acquire [0s..50ms] no_quorum !
	set node 1 [0s..2ms] failed !
	set node 4 [0s..2ms] yes
	set node 5 [0s..2ms] yes
	set node 2 [0s..122ms] yes late
	set node 3 [0s..122ms] yes late
	delete node 4 [50ms..52ms] yes late
	delete node 5 [50ms..52ms] yes late
	delete node 2 [50ms..100ms] lost late !
	delete node 3 [50ms..100ms] lost late !
	delete node 2 [100ms..222ms] no late
	delete node 3 [100ms..222ms] no late
	delete node 2 [122ms..172ms] lost late !
	delete node 3 [122ms..294ms] lost late !
	delete node 2 [172ms..294ms] no late
	delete node 3 [294ms..416ms] no late
`)
}

// A lock that is lost ends the hold there; that it was lost is also what its release
// finds.
func TestTraceOfALoss(t *testing.T) {
	c := play(t, forgetful(), func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		c.sleep(200 * ms)
		c.wantError(h.Extend(context.Background(), time.Second), redlock.ErrLost)
		c.wantError(h.Release(context.Background()), redlock.ErrLost)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(`
redlock acquire [0s..2ms] granted quorum@2ms
	set node 1 [0s..2ms] yes
	set node 2 [0s..2ms] yes
	set node 3 [0s..2ms] yes
	set node 4 [0s..2ms] yes late
	set node 5 [0s..2ms] yes late
	redlock hold [2ms..206ms] lost lost@206ms !
		redlock extend [202ms..206ms] lost !
			extend node 4 [202ms..204ms] yes
			extend node 5 [202ms..204ms] yes
			extend node 1 [202ms..206ms] no
			extend node 2 [202ms..206ms] no
			extend node 3 [202ms..206ms] no
	redlock release [206ms..210ms] lost !
		delete node 4 [206ms..208ms] yes
		delete node 5 [206ms..208ms] yes
		delete node 1 [206ms..210ms] no
		delete node 2 [206ms..210ms] no
		delete node 3 [206ms..210ms] no
`)
}

// forgetful has a majority of nodes forget their keys after a tenth of a second.
func forgetful() (plan nemesis.Plan) {
	for node := 1; node <= 3; node++ {
		plan = append(plan, crash(node, 100*ms, nemesis.After(10*ms)))
	}
	return plan
}

// The holder is warned, and releases late; another one never does, and its hold ends
// all the same.
func TestTraceOfAWarning(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		_ = c.Runtime(1).Sleep(h.Context(), env.Never)
		c.ok(h.Release(context.Background()))
		c.lock(m)
		c.sleep(2 * time.Second)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(`
redlock acquire [0s..2ms] granted quorum@2ms
	set node 1 [0s..2ms] yes
	set node 2 [0s..2ms] yes
	set node 3 [0s..2ms] yes
	set node 4 [0s..2ms] yes late
	set node 5 [0s..2ms] yes late
	redlock hold [2ms..900ms] expiring expiring@900ms !
	redlock release [900ms..902ms] released
		delete node 1 [900ms..902ms] yes
		delete node 2 [900ms..902ms] yes
		delete node 3 [900ms..902ms] yes
		delete node 4 [900ms..902ms] yes late
		delete node 5 [900ms..902ms] yes late
redlock acquire [902ms..904ms] granted quorum@904ms
	set node 1 [902ms..904ms] yes
	set node 2 [902ms..904ms] yes
	set node 3 [902ms..904ms] yes
	set node 4 [902ms..904ms] yes late
	set node 5 [902ms..904ms] yes late
	redlock hold [904ms..1.802s] expiring expiring@1.802s !
`)
}

// One span tells how long a caller has waited, and after how many tries. The hold hangs
// where the caller was.
func TestTraceOfWaiting(t *testing.T) {
	c := open(t, setting(5, nil))
	s := config()
	s.RetryMin, s.RetryMax = 20*ms, 20*ms
	c.run(s, func(m *redlock.Mutex) {
		other, err := redlock.New(config(), c.Runtime(1), c.Nodes(1), nil)
		c.ok(err)
		h := c.lock(other)
		c.Runtime(1).Go("holder", func() { c.sleep(30 * ms); c.ok(h.Release(context.Background())) })
		ctx, end := c.request("request")
		mine, err := c.client.Lock(ctx, m, "r")
		c.ok(err)
		end()
		c.ok(mine.Extend(mine.Context(), time.Second)) // as a watchdog does
		c.ok(mine.Release(context.Background()))
		c.ok(m.Close(context.Background()))
		c.ok(other.Close(context.Background()))
	})
	c.wantTree(`
request [2ms..48ms]
	redlock lock [2ms..48ms] granted tries=3
		redlock acquire [2ms..4ms] taken
			set node 1 [2ms..4ms] no
			set node 2 [2ms..4ms] no
			set node 3 [2ms..4ms] no
			set node 4 [2ms..4ms] no late
			set node 5 [2ms..4ms] no late
			delete node 1 [4ms..6ms] no late
			delete node 2 [4ms..6ms] no late
			delete node 3 [4ms..6ms] no late
			delete node 4 [4ms..6ms] no late
			delete node 5 [4ms..6ms] no late
		redlock acquire [24ms..26ms] taken
			set node 1 [24ms..26ms] no
			set node 2 [24ms..26ms] no
			set node 3 [24ms..26ms] no
			set node 4 [24ms..26ms] no late
			set node 5 [24ms..26ms] no late
			delete node 1 [26ms..28ms] no late
			delete node 2 [26ms..28ms] no late
			delete node 3 [26ms..28ms] no late
			delete node 4 [26ms..28ms] no late
			delete node 5 [26ms..28ms] no late
		redlock acquire [46ms..48ms] granted quorum@48ms
			set node 1 [46ms..48ms] yes
			set node 2 [46ms..48ms] yes
			set node 3 [46ms..48ms] yes
			set node 4 [46ms..48ms] yes late
			set node 5 [46ms..48ms] yes late
	redlock hold [48ms..50ms] released
		redlock extend [48ms..50ms] extended
			extend node 1 [48ms..50ms] yes
			extend node 2 [48ms..50ms] yes
			extend node 3 [48ms..50ms] yes
			extend node 4 [48ms..50ms] yes late
			extend node 5 [48ms..50ms] yes late
	redlock release [50ms..52ms] released
		delete node 1 [50ms..52ms] yes
		delete node 2 [50ms..52ms] yes
		delete node 3 [50ms..52ms] yes
		delete node 4 [50ms..52ms] yes late
		delete node 5 [50ms..52ms] yes late
`)
}

// The requests that draw a fence are children of their try, and sequential requests are shown as
// such.
func TestTraceOfAFence(t *testing.T) {
	c := open(t, setting(3, nil))
	s := config()
	s.Fence, c.sequential = true, true
	c.run(s, func(m *redlock.Mutex) {
		c.lock(m)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(`
redlock acquire [0s..12ms] granted quorum@4ms
	set node 1 [0s..2ms] yes
	set node 2 [2ms..4ms] yes
	count node 1 [4ms..6ms] yes
	count node 2 [6ms..8ms] yes
	raise node 1 [8ms..10ms] yes
	count node 3 [8ms..10ms] yes
	raise node 2 [10ms..12ms] yes
	redlock hold [12ms..12ms] closed lost@12ms !
	raise node 3 [12ms..14ms] yes late
	set node 3 [12ms..14ms] yes late
`)
}

// occupy has the first so many nodes hold somebody else's key.
func (c *scene) occupy(nodes int) {
	r := c.Nodes(1).Send(env.AllNodes(nodes), env.Command{Op: env.OpSet, Key: "r", Token: "somebody", TTL: time.Minute}, env.Never)
	for range nodes {
		_, err := r.Next(context.Background(), env.Never)
		c.ok(err)
	}
}

func (c *scene) wantError(got, want error) {
	c.Helper()
	if !errors.Is(got, want) {
		c.Errorf("got %v, want %v", got, want)
	}
}
