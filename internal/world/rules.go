package world

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Rules lists what the faults of a plan do to messages in one direction of a link. The
// zero value does nothing. A list is never changed, only replaced.
type Rules []activeRule

type activeRule struct {
	nemesis.Rule
	fault   int  // its number in the plan
	forGood bool // it never ends
}

// With returns the rules with the rule of one more fault.
func (l Rules) With(r nemesis.Rule, fault int, forGood bool) Rules {
	return append(slices.Clip(l), activeRule{r, fault, forGood})
}

// Without returns the rules without that of a fault.
func (l Rules) Without(fault int) Rules {
	return slices.DeleteFunc(slices.Clone(l), func(r activeRule) bool { return r.fault == fault })
}

// Delay returns how much longer a message takes. Each rule draws once.
func (l Rules) Delay(m nemesis.Message) (sum time.Duration) {
	for _, r := range l {
		if r.Rule.Delay != nil {
			sum += r.Rule.Delay(m)
		}
	}
	return sum
}

// Holds reports whether a rule holds a message back, and whether it never ends.
func (l Rules) Holds(m nemesis.Message) (held, forGood bool) {
	for _, r := range l {
		if r.Rule.Holds != nil && r.Rule.Holds(m) {
			held, forGood = true, forGood || r.forGood
		}
	}
	return held, forGood
}
