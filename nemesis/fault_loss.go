package nemesis

import (
	"fmt"
	"time"
)

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

func (*Loss) about() string {
	return "messages between clients and nodes are lost and retransmitted: clients see a delay or a reset"
}

func (l *Loss) String() string {
	return fmt.Sprintf("%d %% of %s %v are lost", l.Percent, l.Way.messages(), l.Links)
}

func (l *Loss) claims(s Setting) []string { return l.named("the loss", s) }

// Effects implements [Action].
func (l *Loss) Effects(s Setting) Effects { return Effects{Does: Loses | Draws, Away: l.nodes(s)} }

func (l *Loss) simpler(Setting) Action { return &Partition{Links: l.Links, Way: l.Way} }

func (*Loss) ending() ending { return ending{} }

func (*Loss) random(g *paramGenerator) Action {
	l := &Loss{Links: g.links(), Way: g.direction(), Percent: 1 + g.below(60)}
	if g.chance(30) {
		l.RTO = min(round(g.length())+time.Millisecond, MaxRTO)
	}
	return l
}
