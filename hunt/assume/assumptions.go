package assume

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Assumptions are what is taken for granted of a world. Each field that is set rules
// something out; the zero value rules out nothing.
type Assumptions struct {
	// Without are the kinds of faults that do not happen.
	Without []nemesis.Kind `yaml:"without,flow,omitempty"`

	// RestartDelay is how long a node at least stays away that comes back without
	// something that it had acknowledged. 0: nothing is assumed of it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Outside returns what of a scenario, its plan included, the assumptions rule out
// first, as a [nemesis.FieldError]; nil: it is inside them.
func (a Assumptions) Outside(s scenarios.Scenario) error {
	for i, f := range s.Plan {
		if err := a.outside(f, s); err != nil {
			return &nemesis.FieldError{Path: fmt.Sprintf("plan[%d]", i), Err: err}
		}
	}
	return nil
}

// Admits reports whether one fault may happen in a scenario, whose plan does not
// matter.
func (a Assumptions) Admits(f nemesis.Fault, s scenarios.Scenario) bool {
	return a.outside(f, s) == nil
}

func (a Assumptions) outside(f nemesis.Fault, _ scenarios.Scenario) error {
	if k := f.Action.Kind(); slices.Contains(a.Without, k) {
		return fmt.Errorf("%s is assumed not to happen", k)
	}
	return nil
}
