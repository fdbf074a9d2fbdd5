package nemesis

import (
	"errors"
	"fmt"
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

func (*ClockJump) about() string { return "a node's or a client's wall clock steps forward or back" }

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

// Effects implements [Action].
func (j *ClockJump) Effects(Setting) Effects { return Effects{Does: StepsClock, Clock: j.Clock()} }

// Clock implements [ClockFault].
func (j *ClockJump) Clock() ClockError {
	return ClockError{Machine: j.Machine, Step: j.By, Healing: j.Healing}
}

func (j *ClockJump) opposite() Action {
	o := *j
	o.By = -o.By
	return &o
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

// few implements enumerable: forward or back, by so much that a key expires early or late.
func (*ClockJump) few(p fewParams) []Fault {
	return p.eachMachine(func(m Machine) []Fault {
		return []Fault{{Action: &ClockJump{Machine: m, By: p.scale}}, {Action: &ClockJump{Machine: m, By: -p.scale}}}
	})
}
