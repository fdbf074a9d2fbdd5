package nemesis

import (
	"errors"
	"fmt"
)

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

func (r *ClockRate) validate(s Setting) error {
	if r.PPM == 0 {
		return field("ppm", errors.New("a rate error of nothing"))
	}
	if err := r.Healing.validate(); err != nil {
		return err
	}
	return r.Machine.validate(s)
}

func (r *ClockRate) targets(Setting) []string { return []string{rate(r.Machine)} }

func (r *ClockRate) ending() ending { return r.Healing.ending() }

func (*ClockRate) random(d *dice) Action {
	ppm := int64(1) << d.below(18) // up to 13 %
	if d.chance(50) {
		ppm = -ppm
	}
	return &ClockRate{Machine: d.machine(), PPM: ppm, Healing: d.healing()}
}

// rate names the rate of a machine's clocks as a target.
func rate(m Machine) string { return "the rate of the clocks of " + m.String() }
