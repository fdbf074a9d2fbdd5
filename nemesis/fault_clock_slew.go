package nemesis

import (
	"errors"
	"fmt"
	"time"
)

// ClockSlew moves the clocks of a node or of a client without a step, as time
// synchronisation does: they run PPM fast (By above 0) or slow until they have
// gained By. All clocks of the machine do so, for on Linux a slew moves
// CLOCK_MONOTONIC too. The fault ends by itself.
type ClockSlew struct {
	Machine `yaml:",inline"`
	By      time.Duration `yaml:"by"`                   // what they gain; below 0, lose
	PPM     int64         `yaml:"ppm" want:"1..100000"` // how fast or slow, in parts per million
}

// Kind is "clock-slew".
func (*ClockSlew) Kind() Kind { return "clock-slew" }

func (*ClockSlew) about() string {
	return "a node's or a client's clocks run fast or slow until they have gained or lost a given time"
}

func (l *ClockSlew) String() string {
	return fmt.Sprintf("the clock of %s is slewed by %v at %d ppm", l.Machine, l.By, l.PPM)
}

func (l *ClockSlew) validate(Setting) error {
	if l.By == 0 {
		return field("by", errors.New("a slew by nothing"))
	}
	return nil
}

func (l *ClockSlew) claims(Setting) []string { return []string{rate(l.Machine)} }

// Effects implements [Action].
func (l *ClockSlew) Effects(Setting) Effects {
	return Effects{Does: WandersClock | SettlesClock, Clock: l.Clock()}
}

// Clock implements [ClockFault].
func (l *ClockSlew) Clock() ClockError {
	ppm := l.PPM
	if l.By < 0 {
		ppm = -ppm
	}
	return ClockError{Machine: l.Machine, PPM: ppm}
}

func (l *ClockSlew) opposite() Action {
	o := *l
	o.By = -o.By
	return &o
}

func (l *ClockSlew) ending() ending {
	return ending{forbidden: "a slew ends by itself", after: SlewTime(l.By, l.PPM)}
}

func (*ClockSlew) random(g *paramGenerator) Action {
	ppm := g.slewRate()
	gained := max(1, g.length()/1_000_000*time.Duration(ppm))
	return &ClockSlew{Machine: g.machine(), By: g.eitherWay(gained), PPM: ppm}
}
