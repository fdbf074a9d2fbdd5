package runner_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// counter is a watcher that compares the requests that it sees with those that the history counts.
type counter struct {
	t       *testing.T
	clocks  runner.ClockReader
	sent    map[int]int // by client, since its last return
	rounds  map[int]env.NodeSet
	replies int
}

func (c *counter) Open(_ history.Header, clocks runner.ClockReader) {
	c.clocks, c.sent, c.rounds = clocks, map[int]int{}, map[int]env.NodeSet{}
}

func (c *counter) Record(e *history.Event) {
	if e.Kind == history.Granted || e.Kind == history.Refused || e.Kind == history.Released {
		if c.sent[e.Client] != e.K {
			c.t.Errorf("%v: client %d has sent %d requests by the history, and %d are heard of", e.Time, e.Client, e.K, c.sent[e.Client])
		}
		c.sent[e.Client] = 0
	}
	if e.Kind == history.Extended || e.Kind == history.ExtendFailed {
		c.sent[e.Client] = 0
	}
}

func (c *counter) Sent(client, round int, to env.NodeSet, _ env.Command) {
	c.sent[client] += to.Len()
	if _, twice := c.rounds[round]; twice {
		c.t.Errorf("two rounds have the number %d", round)
	}
	c.rounds[round] = to
}

func (c *counter) Replied(_, round int, r env.Reply) {
	if !c.rounds[round].Has(r.Node) {
		c.t.Errorf("node %d replies to round %d, in which it was not asked, or twice", r.Node, round)
	}
	c.rounds[round] = c.rounds[round].Without(r.Node)
	c.replies++
}

func (c *counter) Asked(client, _ int, _ env.StoreRequest) { c.sent[client]++; c.replies++ }

func (*counter) Answered(int, int, env.StoreReply, error) {}

// Law: a run is the same with and without a watcher, and the watcher sees every request that the
// history counts, and replies to these only.
func TestWatchedRunsAreTheSame(t *testing.T) {
	for _, s := range scenarios.All() {
		e, err := runner.Prepare(simulator, runner.WithGenerator(s, nemesis.Generator{Most: 3}))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := e.Run(t.Context(), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &counter{t: t}
		watched, err := e.Watched(c).Run(t.Context(), 1, nil)
		switch {
		case err != nil:
			t.Fatal(err)
		case watched.TraceHash != plain.TraceHash:
			t.Errorf("%s: the trace is %x, and %x when it is watched", s.Name, plain.TraceHash, watched.TraceHash)
		case c.replies == 0:
			t.Errorf("%s: no request is heard of", s.Name)
		case c.clocks == nil:
			t.Errorf("%s: the simulator does not show its clocks", s.Name)
		}
	}
}
