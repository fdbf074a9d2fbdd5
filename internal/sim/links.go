package sim

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// network carries messages between clients and nodes, and to the guarded resource. By
// default a client has a pool of connections with one request on each at a time, so
// requests to a node arrive in any order. Only a reset loses messages: a partition holds
// them back until it is healed, as TCP does.
type network struct {
	nodes       int
	connections nemesis.Connections
	random      *rand.PCG
	links       []link          // by client, then by node
	toGuard     []linkDirection // by client
	fromGuard   linkDirection

	messages arena[message] // under way
}

// link connects one client and one node.
type link struct {
	requests, replies linkDirection

	connection *connection // the pipelined one; nil: none yet
	pool       pool        // used if connections are limited
	batches    *batches    // nil: no request was sent in a batch yet

	draining []*round // held up by a fault that has ended; later requests wait for them
}

func newNetwork(s nemesis.Setting, seed uint64) network {
	n := network{
		nodes:       s.Nodes,
		connections: s.Connections,
		random:      nemesis.Stream(seed, "network"),
		links:       make([]link, s.Clients*s.Nodes),
		toGuard:     make([]linkDirection, s.Clients),
	}
	n.messages.reserve(smallWorld)
	n.setLatencies(s)
	return n
}

// setPoints makes a point of the latency of each link direction, for a driver to choose it.
func (n *network) setPoints() {
	last := uint64(0)
	n.each(func(l *linkDirection) {
		last++
		l.point = &choice.Point{Kind: choice.Latency, For: choice.ForLatencies, Stream: last}
	})
	for i := range n.links {
		requests, replies := n.links[i].requests.point, n.links[i].replies.point
		requests.Client, requests.Node, requests.Way = i/n.nodes+1, i%n.nodes+1, nemesis.Requests
		replies.Client, replies.Node, replies.Way = requests.Client, requests.Node, nemesis.Replies
	}
}

// setLatencies sets the latency of every link direction.
func (n *network) setLatencies(s nemesis.Setting) {
	usual := s.Latency.Table()
	for i := range n.links {
		n.links[i].requests.latency, n.links[i].replies.latency = usual, usual
	}
	for _, of := range s.Links {
		own := of.Latency.Table()
		for _, client := range nemesis.Each(of.Clients, s.Clients) {
			for _, node := range nemesis.Each(of.Nodes, s.Nodes) {
				n.link(client, node).each(of.Way, func(l *linkDirection) { l.latency = own })
			}
		}
	}
	guard := usual
	if s.GuardLatency != nil {
		guard = s.GuardLatency.Table()
	}
	n.fromGuard.latency = guard
	for i := range n.toGuard {
		n.toGuard[i].latency = guard
	}
}

// each calls do with every direction of every link.
func (n *network) each(do func(*linkDirection)) {
	for i := range n.links {
		n.links[i].each(nemesis.Both, do)
	}
	for i := range n.toGuard {
		do(&n.toGuard[i])
	}
	do(&n.fromGuard)
}

func (n *network) link(client, node int) *link {
	return &n.links[(client-1)*n.nodes+node-1]
}

func (n *network) linkOf(m *message) *link { return n.link(int(m.client), int(m.node)) }

// direction returns the direction in which a message travels.
func (n *network) direction(m *message) *linkDirection {
	if m.answer == 0 {
		return &n.linkOf(m).requests
	}
	return &n.linkOf(m).replies
}

// linkDirection is one direction of a link, or of the path to the guarded resource.
type linkDirection struct {
	latency   *nemesis.Table
	rules     world.Rules   // of faults, applied to each message
	point     *choice.Point // of its last latency; nil: no driver chooses it
	held      []int32       // messages that a rule holds back, just before they arrive
	loss      *loss         // nil: none
	bandwidth *bandwidth    // nil: unlimited
	resets    resets        // whether a message in this direction resets its connection
	copies    *copier       // duplicates arriving requests; nil: none
}

// each calls do with the link directions that way selects.
func (l *link) each(way nemesis.Direction, do func(*linkDirection)) {
	if way.Includes(nemesis.Requests) {
		do(&l.requests)
	}
	if way.Includes(nemesis.Replies) {
		do(&l.replies)
	}
}

// copier duplicates the requests that arrive over a link direction.
type copier struct {
	after  *nemesis.Table
	random *source // the fault's own
}

// bandwidth limits one link direction. Its messages leave one after another.
type bandwidth struct {
	perSecond int64   // bytes
	waiting   []int32 // messages; the first is leaving
}

// takes returns how long a message of so many bytes takes to leave, rounded up.
func (b *bandwidth) takes(bytes int64) int64 {
	high, low := bits.Mul64(uint64(bytes), uint64(time.Second))
	low, carry := bits.Add64(low, uint64(b.perSecond)-1, 0)
	takes, _ := bits.Div64(high+carry, low, uint64(b.perSecond))
	return int64(takes)
}

// resets says which messages in a link direction reset their connection: those of [resetNone],
// [resetAll], or [resetNext].
type resets int32

const (
	resetNone resets = 0
	resetAll  resets = -1
)

// resetNext is the next one only, by the fault of that number.
func resetNext(fault int) resets { return resets(fault) }

// loss loses transmissions over a link direction.
type loss struct {
	fault  *nemesis.Loss
	random *source // the fault's own
}

// hits draws whether a transmission is lost.
func (l *loss) hits() bool {
	if l.fault.Percent == 100 {
		_ = l.random.fixed()
		return true
	}
	draw, _ := bits.Mul64(l.random.Uint64(), 100)
	return int(draw) < l.fault.Percent
}
