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

func (l *ClockSlew) String() string {
	return fmt.Sprintf("the clock of %s is slewed by %v at %d ppm", l.Machine, l.By, l.PPM)
}

func (l *ClockSlew) validate(s Setting) error {
	if l.By == 0 {
		return field("by", errors.New("a slew by nothing"))
	}
	return l.Machine.validate(s)
}

func (l *ClockSlew) targets(Setting) []string { return []string{rate(l.Machine)} }

func (l *ClockSlew) ending() ending {
	return ending{none: "a slew ends by itself", lasts: SlewTime(l.By, l.PPM)}
}

func (*ClockSlew) random(d *dice) Action {
	ppm := d.slewRate()
	gained := max(1, d.length()/1_000_000*time.Duration(ppm))
	return &ClockSlew{Machine: d.machine(), By: d.eitherWay(gained), PPM: ppm}
}
