package world

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Rules are what the faults of a plan do to the messages of one way. The zero value
// does nothing. A list is never changed, only replaced.
type Rules []activeRule

type activeRule struct {
	nemesis.Rule
	fault   int  // its number
	forGood bool // it never ends
}

// With returns the rules and that of one fault more.
func (l Rules) With(r nemesis.Rule, fault int, forGood bool) Rules {
	return append(slices.Clip(l), activeRule{r, fault, forGood})
}

// Without returns the rules but for that of a fault.
func (l Rules) Without(fault int) Rules {
	return slices.DeleteFunc(slices.Clone(l), func(r activeRule) bool { return r.fault == fault })
}

// Delay is how much longer a message takes. Each rule draws once.
func (l Rules) Delay(m nemesis.Message) (sum time.Duration) {
	for _, r := range l {
		if r.Rule.Delay != nil {
			sum += r.Rule.Delay(m)
		}
	}
	return sum
}

// Holds reports whether a message is held back, and whether that never ends.
func (l Rules) Holds(m nemesis.Message) (held, forGood bool) {
	for _, r := range l {
		if r.Rule.Holds != nil && r.Rule.Holds(m) {
			held, forGood = true, forGood || r.forGood
		}
	}
	return held, forGood
}
