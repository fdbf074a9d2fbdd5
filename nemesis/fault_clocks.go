package nemesis

import (
	"errors"
	"fmt"
	"math/bits"
	"time"
)

// ClockJump steps the wall clock of a node or of a client. The other clocks do
// not move. A clock that is off from the beginning is one that jumps at the
// begin of the run.
//
// Without an end the jump is over at once and the clock stays where it is. A
// jump that ends has to say how it is taken back: by a step or by a slew.
type ClockJump struct {
	Machine `yaml:",inline"`
	By      time.Duration `yaml:"by"` // below 0: back
	Healing `yaml:",inline"`
}

// Kind is "clock-jump".
func (*ClockJump) Kind() Kind { return "clock-jump" }

func (j *ClockJump) String() string {
	way, by := "forward", j.By
	if by < 0 {
		way, by = "back", -by
	}
	return fmt.Sprintf("the wall clock of %s jumps %s by %v%v", j.Machine, way, by, j.Healing)
}

func (j *ClockJump) validate(Setting) error {
	switch {
	case j.By == 0:
		return field("by", errors.New("a jump by nothing"))
	case j.Heal == HealNone:
		return field("heal", errors.New("a jump that is not taken back has no end: leave out both"))
	}
	return nil
}

func (j *ClockJump) claims(Setting) []string {
	return []string{"a step of the clock of " + j.Machine.String()}
}

func (j *ClockJump) ending() ending {
	if j.Heal == "" {
		return ending{forbidden: fmt.Sprintf("a jump that ends has to say how it heals: by a %s or by a %s", HealStep, HealSlew)}
	}
	return j.Healing.ending()
}

func (*ClockJump) random(g *paramGenerator) Action {
	return &ClockJump{Machine: g.machine(), By: g.eitherWay(g.length()), Healing: g.healing()}
}

// ClockRate makes the clocks of a node or of a client run fast (PPM above 0)
// or slow. At the end they run true again; what the wall clock has gained or
// lost heals as the fault says, and stays if it says nothing.
type ClockRate struct {
	Machine `yaml:",inline"`
	PPM     int64 `yaml:"ppm" want:"-999999..999999"` // parts per million; below 0: slow
	Healing `yaml:",inline"`
}

// MaxPPM is the largest clock error, either way, that a plan can ask for: a
// clock that runs at nearly nothing, or at nearly twice the speed.
const MaxPPM = 999_999

// Kind is "clock-rate".
func (*ClockRate) Kind() Kind { return "clock-rate" }

func (r *ClockRate) String() string {
	way, ppm := "fast", r.PPM
	if ppm < 0 {
		way, ppm = "slow", -ppm
	}
	return fmt.Sprintf("the clock of %s runs %d ppm %s%v", r.Machine, ppm, way, r.Healing)
}

func (r *ClockRate) validate(Setting) error {
	if r.PPM == 0 {
		return field("ppm", errors.New("a rate error of nothing"))
	}
	return nil
}

func (r *ClockRate) claims(Setting) []string { return []string{rate(r.Machine)} }

func (r *ClockRate) ending() ending { return r.Healing.ending() }

func (*ClockRate) random(g *paramGenerator) Action {
	ppm := int64(1) << g.below(18) // up to 13 %
	if g.chance(50) {
		ppm = -ppm
	}
	return &ClockRate{Machine: g.machine(), PPM: ppm, Healing: g.healing()}
}

// rate names the rate of a machine's clocks as a target.
func rate(m Machine) string { return "the rate of the clocks of " + m.String() }

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

func (l *ClockSlew) validate(Setting) error {
	if l.By == 0 {
		return field("by", errors.New("a slew by nothing"))
	}
	return nil
}

func (l *ClockSlew) claims(Setting) []string { return []string{rate(l.Machine)} }

func (l *ClockSlew) ending() ending {
	return ending{forbidden: "a slew ends by itself", after: SlewTime(l.By, l.PPM)}
}

func (*ClockSlew) random(g *paramGenerator) Action {
	ppm := g.slewRate()
	gained := max(1, g.length()/1_000_000*time.Duration(ppm))
	return &ClockSlew{Machine: g.machine(), By: g.eitherWay(gained), PPM: ppm}
}

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

func (o *ClockStrobe) validate(Setting) error {
	if o.By == 0 {
		return field("by", errors.New("a strobe by nothing"))
	}
	return nil
}

func (o *ClockStrobe) claims(Setting) []string {
	return []string{"the strobe of the clock of " + o.Machine.String()}
}

func (*ClockStrobe) ending() ending { return ending{} }

func (*ClockStrobe) random(g *paramGenerator) Action {
	return &ClockStrobe{Machine: g.machine(), By: g.eitherWay(g.length()), Period: max(g.length(), time.Millisecond)}
}

// ClockFreeze stops the wall clock of a node or of a client. The other clocks go
// on. At the end the time that it has missed heals as the fault says: with a step it
// catches up at once; without a healing it continues from where it stopped.
type ClockFreeze struct {
	Machine `yaml:",inline"`
	Healing `yaml:",inline"`
}

// Kind is "clock-freeze".
func (*ClockFreeze) Kind() Kind { return "clock-freeze" }

func (f *ClockFreeze) String() string {
	return fmt.Sprintf("the wall clock of %s stands still%v", f.Machine, f.Healing)
}

func (f *ClockFreeze) claims(Setting) []string { return []string{rate(f.Machine)} }

func (f *ClockFreeze) ending() ending { return f.Healing.ending() }

func (*ClockFreeze) random(g *paramGenerator) Action {
	return &ClockFreeze{Machine: g.machine(), Healing: g.healing()}
}

// Heal says what happens, at the end of a clock fault, to the error that the fault
// has caused in the wall clock. The errors of other faults stay.
type Heal string

const (
	// HealStep says that the wall clock jumps to the time that it would show without the
	// fault. Other clocks are never stepped.
	HealStep Heal = "step"
	// HealSlew says that all clocks of the machine run fast or slow, as in a
	// clock-slew, until the wall clock shows that time.
	HealSlew Heal = "slew"
	// HealNone says that the error stays.
	HealNone Heal = "none"
)

const (
	// DefaultHealPPM is the rate of adjtime(3).
	DefaultHealPPM = 500
	// MaxSlewPPM is the fastest slew, either way: a tenth is what adjtimex(2)
	// can take from a tick. The fastest daemons slew at about 83,000 ppm.
	MaxSlewPPM = 100_000
)

// Healing is how a clock fault heals at its end. A fault that heals must have
// an end.
type Healing struct {
	Heal    Heal  `yaml:"heal,omitempty" want:"step|slew|none"` // what becomes of the error; needs an end of the fault. Nothing means none
	HealPPM int64 `yaml:"heal_ppm,omitempty" want:"0..100000"`  // the rate of a slew, in parts per million; 0 means 500
}

// SlewPPM returns the rate of a healing by slew.
func (h Healing) SlewPPM() int64 {
	if h.HealPPM == 0 {
		return DefaultHealPPM
	}
	return h.HealPPM
}

// String tells how it heals, to be put behind what the fault does.
func (h Healing) String() string {
	switch h.Heal {
	case HealStep:
		return ", healed by a step"
	case HealSlew:
		return fmt.Sprintf(", healed by a slew of %d ppm", h.SlewPPM())
	}
	return ""
}

// Consistent returns an error for a rate without a slew.
func (h Healing) Consistent() error {
	if h.HealPPM != 0 && h.Heal != HealSlew {
		return field("heal_ppm", errors.New("only a slew has a rate"))
	}
	return nil
}

// ending returns the ending of a fault that need not end, unless it heals.
func (h Healing) ending() ending { return ending{required: h.Heal != "", heals: h.Heal != ""} }

// longestSlew is 146 years: longer than any run, and short enough to be added
// to a time.
const longestSlew = time.Duration(1) << 62

// SlewTime returns how long a clock has to run ppm parts per million fast (slow
// if by is below 0) to gain just by, in whole nanoseconds rounded down. ppm is
// above 0 and below a million.
func SlewTime(by time.Duration, ppm int64) time.Duration {
	size := uint64(by)
	if by < 0 {
		size = -size
	}
	hi, lo := bits.Mul64(size, 1_000_000)
	if hi >= uint64(ppm) {
		return longestSlew
	}
	d, rest := bits.Div64(hi, lo, uint64(ppm))
	if by > 0 && rest > 0 {
		d++ // what is rounded down has to come to by
	}
	return time.Duration(min(d, uint64(longestSlew)))
}
