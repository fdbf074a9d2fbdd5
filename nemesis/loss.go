package nemesis

import (
	"fmt"
	"time"
)

// Loss loses transmissions of messages over links. A connection hides that: a
// message is sent again until it arrives, and what is behind it on the same
// connection waits. So loss shows as delay, or as a reset of the connection,
// never as a hole or a swap.
type Loss struct {
	Links   `yaml:",inline"`
	Way     Direction `yaml:"way,omitempty"`
	Percent int       `yaml:"percent" want:"1..100"` // of transmissions

	// RTO is the retransmission timeout: after how long a message that was
	// lost is sent again the first time. It doubles each time, up to 120 s.
	// 0 means 200 ms.
	RTO time.Duration `yaml:"rto,omitempty" want:"0s..120s"`
}

// What Linux does about loss: its shortest and its longest retransmission
// timeout, and how often it sends again (net.ipv4.tcp_retries2) before it
// gives the connection up.
const (
	MinRTO          = 200 * time.Millisecond
	MaxRTO          = 120 * time.Second
	Retransmissions = 15
)

// Timeout returns how long the sender waits for news of a message that it has
// sent again so many times, until it does so once more, or resets the
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

func (l *Loss) validate(s Setting) error {
	return l.validateWay(s, l.Way)
}

func (l *Loss) targets(s Setting) []string { return l.named("the loss", s) }

func (*Loss) ending() ending { return ending{} }

func (*Loss) random(d *dice) Action {
	l := &Loss{Links: d.links(), Way: d.direction(), Percent: 1 + d.below(60)}
	if d.chance(30) {
		l.RTO = min(round(d.length())+time.Millisecond, MaxRTO)
	}
	return l
}
