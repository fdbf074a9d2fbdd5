package redlockotel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

func crash(node int, start time.Duration, end *nemesis.Moment) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: nemesis.At(start), End: end}
}

// slow makes what a node is asked and answers come later, by so much each.
func slow(node int, by time.Duration) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Latency{Links: nemesis.Links{Nodes: []int{node}}, Add: nemesis.Distribution{Range: nemesis.Range{Min: by, Max: by}}},
		Start:  nemesis.At(0),
	}
}

// A grant over five nodes, of which one is dead and one is late: it hangs on the span
// of the caller, and requests on what they were sent for, also where they are answered
// after that has ended.
func TestTraceOfAGrant(t *testing.T) {
	c := play(t, nemesis.Plan{crash(5, 0, nil), slow(4, 10*ms)}, func(c *scene, m *redlock.Mutex) {
		ctx, end := c.request("request")
		h, err := m.Lock(ctx, "r")
		c.ok(err)
		c.sleep(100 * ms)
		c.ok(h.Extend(ctx, time.Second))
		c.ok(h.Release(ctx))
		end()
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(``)
}

// Without a span of the caller all of a lock is one trace.
func TestTraceWithoutACaller(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		c.ok(h.Extend(context.Background(), time.Second))
		c.ok(h.Release(context.Background()))
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(``)
}

// What is called from elsewhere hangs there, and leads to the hold.
func TestTraceFromElsewhere(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		other, end := c.request("elsewhere")
		c.ok(h.Extend(other, time.Second))
		c.ok(h.Release(other))
		end()
	})
	c.wantTree(``)
}

// A lock that is taken is nothing to be alarmed at. What its tries have set is deleted
// on their behalf.
func TestTraceOfARefusal(t *testing.T) {
	c := play(t, nemesis.Plan{slow(5, 10*ms)}, func(c *scene, m *redlock.Mutex) {
		c.occupy(4)
		_, err := m.TryLock(context.Background(), "r")
		c.wantError(err, redlock.ErrTaken)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(``)
}

// Where no quorum answers somebody should look. Keys on nodes that are silent are
// deleted again and again, on behalf of the try that has ended.
func TestTraceWithoutAQuorum(t *testing.T) {
	c := play(t, nemesis.Plan{crash(1, 0, nil), slow(2, 60*ms), slow(3, 60*ms)}, func(c *scene, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		c.wantError(err, redlock.ErrNoQuorum)
		c.sleep(500 * ms)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(``)
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
	c.wantTree(``)
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
	c.wantTree(``)
}

// A mutex that is closed ends the holds that are left.
func TestTraceOfAClose(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		c.lock(m)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(``)
}

// One span tells how long a caller has waited, and after how many tries. The hold hangs
// where the caller was.
func TestTraceOfWaiting(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
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
	c.wantTree(``)
}

// What draws the fence is seen below the try that it is for, and asking one after the
// other as what it is.
func TestTraceOfAFence(t *testing.T) {
	c := open(t, setting(3, nil))
	s := config()
	s.Fence, s.Sequential = true, true
	c.run(s, func(m *redlock.Mutex) {
		c.lock(m)
		c.ok(m.Close(context.Background()))
	})
	c.wantTree(``)
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

var _ = strings.Contains
var _ trace.ReadOnlySpan
