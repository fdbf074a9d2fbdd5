package nemesis

import (
	"errors"
	"fmt"
)

// ClockRate makes the clocks of a node or of a client run fast (PPM above 0)
// or slow. At the end they run true again; what they have gained or lost
// stays.
type ClockRate struct {
	Node   int   `yaml:"node,omitempty"`
	Client int   `yaml:"client,omitempty"`
	PPM    int64 `yaml:"ppm"` // parts per million
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
	return fmt.Sprintf("the clock of %s runs %d ppm %s", nodeOrClient(r.Node, r.Client), ppm, way)
}

func (r *ClockRate) validate(s Setting) error {
	switch {
	case r.PPM == 0:
		return field("ppm", errors.New("a rate error of nothing"))
	case r.PPM < -MaxPPM || r.PPM > MaxPPM:
		return field("ppm", fmt.Errorf("%d: want -%d to %d", r.PPM, MaxPPM, MaxPPM))
	}
	return validateClock(r.Node, r.Client, s)
}

func (r *ClockRate) targets(Setting) []string { return []string{nodeOrClient(r.Node, r.Client)} }

func (*ClockRate) ending() ending { return ending{} }
