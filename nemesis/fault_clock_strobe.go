package nemesis

import (
	"errors"
	"fmt"
	"time"
)

// ClockStrobe makes the wall clock of a node or of a client flip, every Period,
// between its own time and one that is By off, which comes first. At the end it
// shows its own time. The other clocks do not move.
type ClockStrobe struct {
	Machine `yaml:",inline"`
	By      time.Duration `yaml:"by"`                    // below 0: back
	Period  time.Duration `yaml:"period" want:"100µs.."` // between two flips
}

// MinStrobePeriod bounds what a strobe can do to a run in a second.
const MinStrobePeriod = 100 * time.Microsecond

// Kind is "clock-strobe".
func (*ClockStrobe) Kind() Kind { return "clock-strobe" }

func (*ClockStrobe) about() string {
	return "a node's or a client's wall clock repeatedly jumps forth and back"
}

func (o *ClockStrobe) String() string {
	return fmt.Sprintf("the wall clock of %s flips by %v and back every %v", o.Machine, o.By, o.Period)
}

func (o *ClockStrobe) validate(Setting) error {
	if o.By == 0 {
		return field("by", errors.New("a strobe by nothing"))
	}
	return nil
}

func (o *ClockStrobe) claims(Setting) []string {
	return []string{"the strobe of the clock of " + o.Machine.String()}
}

// Effects implements [Action].
func (o *ClockStrobe) Effects(Setting) Effects { return Effects{Does: WandersClock, Clock: o.Clock()} }

// Clock implements [ClockFault].
func (o *ClockStrobe) Clock() ClockError {
	return ClockError{Machine: o.Machine, Step: o.By, Every: o.Period}
}

func (o *ClockStrobe) simpler(Setting) Action { return &ClockJump{Machine: o.Machine, By: o.By} }

func (*ClockStrobe) ending() ending { return ending{} }

func (*ClockStrobe) random(g *paramGenerator) Action {
	return &ClockStrobe{Machine: g.machine(), By: g.eitherWay(g.length()), Period: max(g.length(), time.Millisecond)}
}
