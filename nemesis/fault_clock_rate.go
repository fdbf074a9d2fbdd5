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

func (*ClockRate) about() string { return "a node's or a client's clocks run fast or slow" }

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

// Effects implements [Action].
func (r *ClockRate) Effects(Setting) Effects { return Effects{Does: WandersClock, Clock: r.Clock()} }

// Clock implements [ClockFault].
func (r *ClockRate) Clock() ClockError {
	return ClockError{Machine: r.Machine, PPM: r.PPM, Healing: r.Healing}
}

func (r *ClockRate) opposite() Action {
	o := *r
	o.PPM = -o.PPM
	return &o
}

func (r *ClockRate) ending() ending { return r.Healing.ending() }

func (*ClockRate) random(g *paramGenerator) Action {
	ppm := int64(1) << g.below(18) // up to 13 %
	if g.chance(50) {
		ppm = -ppm
	}
	return &ClockRate{Machine: g.machine(), PPM: ppm, Healing: g.healing()}
}

// fewPPM is the error of the clocks of [Few]: a fifth, which no usual allowance for drift covers.
const fewPPM = 200_000

// few implements enumerable: from its start to the end of the run, fast or slow.
func (*ClockRate) few(p fewParams) []Fault {
	return p.eachMachine(func(m Machine) []Fault {
		return []Fault{{Action: &ClockRate{Machine: m, PPM: fewPPM}}, {Action: &ClockRate{Machine: m, PPM: -fewPPM}}}
	})
}
