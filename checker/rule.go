package checker

import "github.com/lockstorm/lockstorm/history"

// The two exclusion properties are one engine with two rules.
const (
	leaseRule = iota
	sectionRule
	ruleCount
)

// rule says what ends a window.
type rule struct {
	property Property
	window   string // what findings call it
	ends     kinds
}

var rules = [ruleCount]rule{
	leaseRule: {
		property: Lease, window: "window",
		ends: kindSet(history.Release, history.Lost, history.Lapse),
	},
	sectionRule: {
		property: Section, window: "section",
		ends: kindSet(history.Release, history.Lost, history.Expiring, history.Kill, history.End),
	},
}

// beginsAnew reports whether an extension can begin a window anew: see [exclusion.renew].
func (r *rule) beginsAnew() bool { return r.ends.has(history.Lapse) }

// kinds is a set of kinds of events.
type kinds uint64

func kindSet(list ...history.Kind) kinds {
	var s kinds
	for _, k := range list {
		s |= 1 << k
	}
	return s
}

func (s kinds) has(k history.Kind) bool { return s&(1<<(k%maxKinds)) != 0 }
