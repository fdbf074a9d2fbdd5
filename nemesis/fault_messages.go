package nemesis

import (
	"errors"
	"fmt"
	"time"
)

// Traffic is an action that only affects messages between clients and nodes. Its
// rule belongs to no world, so a backend that injects one such kind injects all of
// them, future kinds included.
type Traffic interface {
	Action
	// Over lists the links that the fault affects, none twice, and in which
	// direction.
	Over(s Setting) (links []Links, way Direction)
	// Rule says what happens to messages on those links. draw returns random bits
	// from the fault's own stream.
	Rule(draw func() uint64) Rule
}

// Rule says what a fault does to each message that it affects. Its functions depend
// only on the message and on the draws of the fault, and must be safe for concurrent
// use.
type Rule struct {
	// Delay returns how much longer the message takes, at least 0. It is called
	// once, when the message is sent. nil: no message takes longer.
	Delay func(m Message) time.Duration
	// Holds reports whether the message is held back, just before it arrives,
	// until the fault ends. nil: no message is.
	Holds func(m Message) bool
}

// Message is what a rule knows about a message between a client and a node.
type Message struct {
	Client, Node int
	Way          Direction // Requests or Replies
	Key          string    // of the command, or of the command it replies to; "" if there is none or the world does not know it
}

// delayBy returns the rule that delays every message.
func delayBy(by Distribution, draw func() uint64) Rule {
	table := by.Table()
	return Rule{Delay: func(Message) time.Duration { return table.Draw(draw()) }}
}

// HoldAll returns the rule that holds every message until the fault ends.
func HoldAll() Rule { return Rule{Holds: func(Message) bool { return true }} }

// Latency adds to the time that each message takes over the links between
// clients and nodes.
type Latency struct {
	Links `yaml:",inline"`
	Way   Direction    `yaml:"way,omitempty" want:"requests|replies"`
	Add   Distribution `yaml:"add"` // how much longer
}

// Kind is "latency".
func (*Latency) Kind() Kind { return "latency" }

func (l *Latency) String() string {
	return fmt.Sprintf("%s %v take %v longer", l.Way.messages(), l.Links, l.Add)
}

func (l *Latency) claims(s Setting) []string { return l.named("the latency", s) }

// Over implements [Traffic].
func (l *Latency) Over(Setting) ([]Links, Direction) { return []Links{l.Links}, l.Way }

// Rule implements [Traffic].
func (l *Latency) Rule(draw func() uint64) Rule { return delayBy(l.Add, draw) }

func (*Latency) ending() ending { return ending{} }

func (*Latency) random(g *paramGenerator) Action {
	return &Latency{Links: g.links(), Way: g.direction(), Add: g.delay()}
}

// Loss loses transmissions of messages over links. A connection hides that: a
// message is sent again until it arrives, and later messages on the same connection
// wait for it. So loss shows as delay, or as a reset of the connection, never as a
// missing message or a changed order.
type Loss struct {
	Links   `yaml:",inline"`
	Way     Direction `yaml:"way,omitempty" want:"requests|replies"`
	Percent int       `yaml:"percent" want:"1..100"` // of transmissions

	// RTO is the retransmission timeout: after how long a message that was
	// lost is sent again the first time. It doubles each time, up to 120 s.
	// 0 means 200 ms.
	RTO time.Duration `yaml:"rto,omitempty" want:"0s..120s"`
}

// Linux' handling of loss: its shortest and longest retransmission timeout, and the number of
// retransmissions (net.ipv4.tcp_retries2) before it closes the connection.
const (
	MinRTO          = 200 * time.Millisecond
	MaxRTO          = 120 * time.Second
	Retransmissions = 15
)

// Timeout returns how long the sender of a message waits for its acknowledgement
// after so many retransmissions. It then sends the message again, or resets the
// connection after [Retransmissions] times.
func (l *Loss) Timeout(again int) time.Duration {
	rto := l.RTO
	if rto == 0 {
		rto = MinRTO
	}
	for ; again > 0 && rto < MaxRTO; again-- {
		rto *= 2
	}
	return min(rto, MaxRTO)
}

// Kind is "loss".
func (*Loss) Kind() Kind { return "loss" }

func (l *Loss) String() string {
	return fmt.Sprintf("%d %% of %s %v are lost", l.Percent, l.Way.messages(), l.Links)
}

func (l *Loss) claims(s Setting) []string { return l.named("the loss", s) }

func (*Loss) ending() ending { return ending{} }

func (*Loss) random(g *paramGenerator) Action {
	l := &Loss{Links: g.links(), Way: g.direction(), Percent: 1 + g.below(60)}
	if g.chance(30) {
		l.RTO = min(round(g.length())+time.Millisecond, MaxRTO)
	}
	return l
}

// Bandwidth narrows links: a message takes as long as its bytes need, beside
// the latency, and messages between one client and one node wait for one
// another. The two directions do not.
type Bandwidth struct {
	Links          `yaml:",inline"`
	Way            Direction `yaml:"way,omitempty" want:"requests|replies"`
	BytesPerSecond int64     `yaml:"bytes_per_second" want:"1.."` // of each link, each way; what cuts a link is a partition
}

// Kind is "bandwidth".
func (*Bandwidth) Kind() Kind { return "bandwidth" }

func (b *Bandwidth) String() string {
	return fmt.Sprintf("%s %v get %d bytes a second", b.Way.messages(), b.Links, b.BytesPerSecond)
}

func (b *Bandwidth) claims(s Setting) []string { return b.named("the bandwidth", s) }

func (*Bandwidth) ending() ending { return ending{} }

// A command and its reply have about a hundred bytes, so that a message takes
// from a millisecond to half a second.
func (*Bandwidth) random(g *paramGenerator) Action {
	return &Bandwidth{Links: g.links(), Way: g.direction(), BytesPerSecond: 256 << g.below(10)}
}

// Duplicate makes requests arrive at a node twice: a proxy in front of it sends each
// request once more, as proxies do that retry requests they believe lost. The copy
// travels over the proxy's own connection, so it may arrive late: after the client's
// next requests, or after the client is gone. The proxy drops the node's reply, so the
// client does not notice. Copies under way when the fault ends still arrive.
//
// Nothing else happens to the link: the history shows it as up.
type Duplicate struct {
	Links `yaml:",inline"`
	After Distribution `yaml:"after"` // how much later than the request its copy comes to the node
}

// Kind is "duplicate".
func (*Duplicate) Kind() Kind { return "duplicate" }

func (c *Duplicate) String() string {
	return fmt.Sprintf("requests %v come twice, the second time %v later", c.Links, c.After)
}

// requires implements settingDependent: a client of a store has one connection, and requests with
// numbers, of which the store carries each out once.
func (*Duplicate) requires(s Setting) error {
	if s.Store != nil {
		return errors.New("a store knows a request that comes twice by its number")
	}
	return nil
}

func (c *Duplicate) claims(s Setting) []string { return c.named("the copies", s) }

func (*Duplicate) ending() ending { return ending{} }

func (*Duplicate) random(g *paramGenerator) Action {
	return &Duplicate{Links: g.links(), After: g.delay()}
}

// GuardLatency adds to the time that clients' accesses take on the way to the
// guarded resource: a write is delayed in the network, or in front of the store. It
// affects no link to a node.
type GuardLatency struct {
	Clients []int        `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients. None: every client
	Add     Distribution `yaml:"add"`                               // how much longer
}

// Kind is "guard-latency".
func (*GuardLatency) Kind() Kind { return "guard-latency" }

func (l *GuardLatency) String() string {
	return fmt.Sprintf("accesses of %s reach the guarded resource %v later", listed("client", l.Clients), l.Add)
}

func (l *GuardLatency) claims(s Setting) []string {
	var all []string
	for _, c := range Each(l.Clients, s.Clients) {
		all = append(all, fmt.Sprintf("the latency of client %d to the guarded resource", c))
	}
	return all
}

// Rule says what happens to the accesses. The action is no [Traffic], because
// accesses use no link to a node.
func (l *GuardLatency) Rule(draw func() uint64) Rule { return delayBy(l.Add, draw) }

func (*GuardLatency) ending() ending { return ending{} }

func (*GuardLatency) random(g *paramGenerator) Action {
	return &GuardLatency{Clients: g.some(g.setting.Clients), Add: g.delay()}
}
