package nemesis

import (
	"errors"
	"fmt"
	"math/bits"
	"time"
)

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
