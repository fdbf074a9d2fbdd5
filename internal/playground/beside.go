package playground

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Contest is what two locks can be compared in: the trials, and the locks that go through each.
type Contest struct {
	Trials []Choice `json:"trials"`
	Locks  []Choice `json:"locks"`
}

// Choice is something to choose.
type Choice struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Group   string `json:"group"` // it belongs to; "": none
}

// Compared returns the trials and the locks of the comparison.
func Compared() (Contest, error) {
	var c Contest
	for _, t := range scenarios.Trials() {
		c.Trials = append(c.Trials, Choice{Name: t.Name, Summary: t.Summary})
	}
	for _, l := range scenarios.Contenders() {
		c.Locks = append(c.Locks, Choice{l.Name, l.Summary, string(l.Family)})
	}
	return c, nil
}

// EntryRequest asks for the scenario of a lock in a trial.
type EntryRequest struct {
	Trial string `json:"trial"`
	Lock  string `json:"lock"`
}

// Enter returns the scenario of a lock in a trial.
func Enter(q EntryRequest) (ScenarioText, error) {
	trials, locks := scenarios.Trials(), scenarios.Contenders()
	t := slices.IndexFunc(trials, func(t scenarios.Trial) bool { return t.Name == q.Trial })
	l := slices.IndexFunc(locks, func(l scenarios.Contender) bool { return l.Name == q.Lock })
	switch {
	case t < 0:
		return ScenarioText{}, fmt.Errorf("unknown trial %q", q.Trial)
	case l < 0:
		return ScenarioText{}, fmt.Errorf("unknown lock %q", q.Lock)
	}
	text, err := printed(trials[t].Enter(locks[l]))
	return ScenarioText{text}, err
}
