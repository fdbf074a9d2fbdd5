package runner

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

// sharedLocks is a model of locks on a majority of the nodes, each with several callers. It knows whose
// each key is, and aliases is told only which lock has set it.
type sharedLocks struct {
	*rapid.T
	aliases  *aliases
	now      history.Time
	callers  int                   // of a lock
	sameTry  bool                  // all tries of a call have one value
	cleansUp bool                  // whoever gives up
	calls    []*modelCall          // the latest of each caller
	keys     map[int]*modelKey     // by node
	believed map[int]string        // tokens that the aliases give the keys, by node
	byToken  map[string]*modelCall // all calls
	values   int
}

const modelNodes = 5

// modelCall is a call of Lock.
type modelCall struct {
	client, number int
	token, value   string
	requests       [modelNodes + 1][]modelRequest // under way to each node, in order
	set, answered  int                            // of the try under way
	failed         bool                           // the try has, and is cleaned up
	granted, over  bool
	releasing      bool
	deleted        int // for the release
}

// modelRequest sets a key, or deletes it.
type modelRequest struct {
	value   string
	deletes bool
	sent    history.Time
}

type modelKey struct {
	value string
	call  *modelCall
}

// Record implements [history.Sink]: it follows whose the aliases say a key is.
func (m *sharedLocks) Record(e *history.Event) {
	switch e.Kind {
	case history.KeySet:
		m.believed[e.Node] = e.Token
	case history.KeyGone:
		if m.believed[e.Node] == e.Token {
			delete(m.believed, e.Node)
		}
	}
}

func (m *sharedLocks) tell(e history.Event) {
	e.Time = m.now
	m.aliases.Record(&e)
}

// connection is the client by whose connections a caller's requests are sent.
func (m *sharedLocks) connection(c *modelCall) int { return c.client - (c.client-1)%m.callers }

func (m *sharedLocks) begin(client, number int) {
	c := &modelCall{client: client, number: number, token: fmt.Sprintf("%d.%d", client, number)}
	m.calls[client-1], m.byToken[c.token] = c, c
	m.tell(history.Event{Kind: history.Acquire, Client: client, Resource: "stock", Token: c.token})
	m.try(c)
}

func (m *sharedLocks) try(c *modelCall) {
	if c.value == "" || !m.sameTry {
		m.values++
		c.value = fmt.Sprintf("v%d", m.values)
	}
	c.set, c.answered, c.failed = 0, 0, false
	m.send(c, false)
}

func (m *sharedLocks) send(c *modelCall, deletes bool) {
	for node := 1; node <= modelNodes; node++ {
		c.requests[node] = append(c.requests[node], modelRequest{c.value, deletes, m.now})
	}
}

// arrive makes a node carry out the next request of a call.
func (m *sharedLocks) arrive(c *modelCall, node int) {
	r := c.requests[node][0]
	c.requests[node] = c.requests[node][1:]
	current := r.value == c.value && !c.failed && !c.over
	switch k := m.keys[node]; {
	case r.deletes:
		if k != nil && k.value == r.value {
			delete(m.keys, node)
			m.tell(history.Event{Kind: history.KeyGone, Client: m.connection(c), Node: node, Resource: "k", Token: r.value, Reason: history.Deleted})
			if c.releasing {
				c.deleted++
			}
		}
	case k == nil:
		m.keys[node] = &modelKey{r.value, c}
		m.tell(history.Event{Kind: history.KeySet, Client: m.connection(c), Node: node, Resource: "k", Token: r.value, Sent: r.sent})
		if current {
			c.set++
		}
		fallthrough
	default:
		if current {
			c.answered++
		}
	}
}

// quiet reports whether no request of the call is under way.
func (c *modelCall) quiet() bool {
	return !slices.ContainsFunc(c.requests[:], func(r []modelRequest) bool { return len(r) > 0 })
}

// giveUp makes a call return an error. It may leave behind what it has set.
func (m *sharedLocks) giveUp(c *modelCall) {
	c.over = true
	m.tell(history.Event{Kind: history.Refused, Client: c.client, Resource: "stock", Token: c.token})
	if m.cleansUp {
		m.send(c, true)
	}
}

// expire makes a node forget a key.
func (m *sharedLocks) expire(node int) {
	m.tell(history.Event{Kind: history.KeyGone, Node: node, Resource: "k", Token: m.keys[node].value, Reason: history.Expired})
	delete(m.keys, node)
}

// steps are what can happen next.
func (m *sharedLocks) steps() (list []func()) {
	for node := 1; node <= modelNodes; node++ {
		if k := m.keys[node]; k != nil && k.call.over && k.call.quiet() {
			list = append(list, func() { m.expire(node) })
		}
	}
	for i, c := range m.calls {
		for node := 1; node <= modelNodes; node++ {
			if len(c.requests[node]) > 0 {
				list = append(list, func() { m.arrive(c, node) })
			}
		}
		switch waits := !c.granted && !c.over; {
		case c.over && c.quiet():
			list = append(list, func() { m.begin(i+1, c.number+1) })
		case c.releasing && !c.over && c.deleted > modelNodes/2:
			list = append(list, func() {
				c.over = true
				m.tell(history.Event{Kind: history.Released, Client: c.client, Resource: "stock", Token: c.token})
			})
		case c.granted && !c.releasing:
			list = append(list, func() {
				c.releasing = true
				m.send(c, true)
			})
		case waits && !c.failed && c.set > modelNodes/2:
			list = append(list, func() {
				c.granted = true
				m.tell(history.Event{Kind: history.Granted, Client: c.client, Resource: "stock", Token: c.token})
			}, func() { m.giveUp(c) })
		case waits && !c.failed && c.answered == modelNodes:
			list = append(list, func() {
				c.failed = true
				m.send(c, true)
			}, func() { m.giveUp(c) })
		case waits && c.failed && (c.quiet() || !m.sameTry):
			list = append(list, func() { m.try(c) }, func() { m.giveUp(c) })
		case waits:
			list = append(list, func() { m.giveUp(c) })
		}
	}
	return list
}

// check compares what the aliases say with what is. Of calls that wait, or have been refused, it need not be known
// which key is whose.
func (m *sharedLocks) check() {
	for node := 1; node <= modelNodes; node++ {
		var whose *modelCall
		if k := m.keys[node]; k != nil && k.call.granted && k.value == k.call.value {
			whose = k.call
		}
		said := m.byToken[m.believed[node]]
		if said != nil && !said.granted {
			said = nil
		}
		if b := m.believed[node]; b != "" && (said == nil || said.over) && (m.byToken[b] == nil || m.byToken[b].over) && !m.litter() {
			m.Fatalf("at %d node %d has a key that the aliases say was left behind, as %s, and none was", m.now, node, b)
		}
		if whose != said {
			m.Fatalf("at %d node %d has a key of %s, and the aliases say it is of %s: %v", m.now, node, tokenOrNone(whose), tokenOrNone(said), slices.Collect(maps.Values(m.believed)))
		}
	}
}

// litter reports whether a key is there of a try that is over.
func (m *sharedLocks) litter() bool {
	for _, k := range m.keys {
		if k.call.over || k.value != k.call.value {
			return true
		}
	}
	return false
}

func tokenOrNone(c *modelCall) string {
	if c == nil {
		return "no hold"
	}
	return c.token
}

// Law: of callers that share a lock, each hold has all keys that it has set, and no others, from the grant on.
func TestSharedHoldsHaveTheirKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &sharedLocks{T: t, callers: rapid.IntRange(2, 3).Draw(t, "callers"), sameTry: rapid.Bool().Draw(t, "one value for all tries"), cleansUp: rapid.Bool().Draw(t, "cleans up"), keys: map[int]*modelKey{}, believed: map[int]string{}, byToken: map[string]*modelCall{}}
		m.aliases = newAliases(m, false, m.callers)
		m.calls = make([]*modelCall, 2*m.callers)
		for i := range m.calls {
			m.calls[i] = &modelCall{client: i + 1, over: true}
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			m.now++
			steps := m.steps()
			steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")]()
			m.check()
		}
	})
}
