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

func (o *ClockStrobe) String() string {
	return fmt.Sprintf("the wall clock of %s flips by %v and back every %v", o.Machine, o.By, o.Period)
}

func (o *ClockStrobe) validate(s Setting) error {
	if o.By == 0 {
		return field("by", errors.New("a strobe by nothing"))
	}
	return o.Machine.validate(s)
}

func (o *ClockStrobe) targets(Setting) []string {
	return []string{"the strobe of the clock of " + o.Machine.String()}
}

func (*ClockStrobe) ending() ending { return ending{} }

func (*ClockStrobe) random(d *dice) Action {
	return &ClockStrobe{Machine: d.machine(), By: d.eitherWay(d.length()), Period: max(d.length(), time.Millisecond)}
}
