package redlockotel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/testkit"
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

// The traces of testdata/traces.txt are what a user sees of each operation.
func TestGoldenTraces(t *testing.T) {
	var text strings.Builder
	for _, c := range []struct {
		title string
		trace func(*testing.T) string
	}{
		{"from elsewhere", traceFromElsewhere},
		{"of a refusal", traceOfARefusal},
		{"without a quorum", traceWithoutAQuorum},
		{"of a loss", traceOfALoss},
		{"of a warning", traceOfAWarning},
		{"of waiting", traceOfWaiting},
		{"of a fence", traceOfAFence},
	} {
		fmt.Fprintf(&text, "# %s\n%s\n", c.title, c.trace(t))
	}
	testkit.GoldenFile(t, "testdata/traces.txt", text.String(), "The spans of a lock look different.")
}

// A call from another trace is a span of that trace, with a link to the hold.
func traceFromElsewhere(t *testing.T) string {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		other, end := c.request("elsewhere")
		c.ok(h.Extend(other, time.Second))
		c.ok(h.Release(other))
		end()
		c.ok(m.Close(context.Background()))
	})
	return c.tree()
}

// A lock that is taken is no error. The deletions of its tries' keys are children of the tries.
func traceOfARefusal(t *testing.T) string {
	c := play(t, nemesis.Plan{slow(5, 10*ms)}, func(c *scene, m *redlock.Mutex) {
		c.occupy(4)
		_, err := m.TryLock(context.Background(), "r")
		c.wantError(err, redlock.ErrTaken)
		c.ok(m.Close(context.Background()))
	})
	return c.tree()
}

// A try without a quorum is an error in the trace. Deletions on silent nodes are repeated, in spans
// of the try that has ended.
func traceWithoutAQuorum(t *testing.T) string {
	c := play(t, nemesis.Plan{crash(1, 0, nil), slow(2, 60*ms), slow(3, 60*ms)}, func(c *scene, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		c.wantError(err, redlock.ErrNoQuorum)
		c.sleep(500 * ms)
		c.ok(m.Close(context.Background()))
	})
	return c.tree()
}

// A lock that is lost ends the hold there; that it was lost is also what its release
// finds.
func traceOfALoss(t *testing.T) string {
	c := play(t, forgetful(), func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		c.sleep(200 * ms)
		c.wantError(h.Extend(context.Background(), time.Second), redlock.ErrLost)
		c.wantError(h.Release(context.Background()), redlock.ErrLost)
		c.ok(m.Close(context.Background()))
	})
	return c.tree()
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
func traceOfAWarning(t *testing.T) string {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		_ = c.Runtime(1).Sleep(h.Context(), env.Never)
		c.ok(h.Release(context.Background()))
		c.lock(m)
		c.sleep(2 * time.Second)
		c.ok(m.Close(context.Background()))
	})
	return c.tree()
}

// One span tells how long a caller has waited, and after how many tries. The hold hangs
// where the caller was.
func traceOfWaiting(t *testing.T) string {
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
	return c.tree()
}

// The requests that draw a fence are children of their try, and sequential requests are shown as
// such.
func traceOfAFence(t *testing.T) string {
	c := open(t, setting(3, nil))
	s := config()
	s.Fence, c.sequential = true, true
	c.run(s, func(m *redlock.Mutex) {
		c.lock(m)
		c.ok(m.Close(context.Background()))
	})
	return c.tree()
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
