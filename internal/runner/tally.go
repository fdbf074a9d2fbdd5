package runner

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Tally is what a batch of runs amounts to.
type Tally struct {
	Scenario scenarios.Scenario
	Runs     int

	// Seen counts the runs by the verdict that a property got.
	Seen map[checker.Property]map[checker.Verdict]int

	// Violations counts the violations of a property in all runs.
	Violations map[checker.Property]int

	// First and FirstUnknown hold, for each property, the first run that
	// violated it or left it open.
	First, FirstUnknown map[checker.Property]Result

	// Shown counts the runs that showed by themselves what was expected, Against
	// those that showed what no further run can mend. Witness is the seed of the
	// first against, or else of the first that showed it, and WitnessTrace the hash
	// of its trace.
	Shown, Against int
	Witness        uint64
	WitnessTrace   uint64

	// Measured is the measurements of all runs.
	Measured Aggregate

	// Slipped counts the runs that slipped, and Slipping is the first of them. All
	// properties count as left open in them, and nothing is measured.
	Slipped  int
	Slipping Result

	// Faultless counts the runs in which no fault took place: silence in them says
	// little.
	Faultless int

	Interrupted bool
}

// NewTally returns the tally of no runs.
func NewTally(s scenarios.Scenario) Tally {
	t := Tally{
		Scenario: s,
		Seen:     map[checker.Property]map[checker.Verdict]int{},
		First:    map[checker.Property]Result{},

		FirstUnknown: map[checker.Property]Result{},
		Violations:   map[checker.Property]int{},
	}
	for _, p := range checker.Properties() {
		t.Seen[p] = map[checker.Verdict]int{}
	}
	return t
}

// Add counts one run.
func (t *Tally) Add(r Result) {
	t.Runs++
	t.Interrupted = t.Interrupted || r.Interrupted
	if r.Slipped() {
		t.addSlipped(r)
		return
	}
	t.Measured.Add(r.Report.Measurements)
	if r.Report.Measurements.Faults == 0 {
		t.Faultless++
	}
	for _, f := range r.Report.Findings {
		t.Seen[f.Property][f.Verdict]++
		switch f.Verdict {
		case checker.Violated:
			t.Violations[f.Property] += f.Count
			keepFirst(t.First, f.Property, r)
		case checker.Unknown:
			keepFirst(t.FirstUnknown, f.Property, r)
		}
	}
	switch {
	case r.Contradicts():
		if t.Against == 0 {
			t.Witness, t.WitnessTrace = r.Seed, r.TraceHash
		}
		t.Against++
	case r.AsExpected():
		if t.Shown == 0 && t.Against == 0 {
			t.Witness, t.WitnessTrace = r.Seed, r.TraceHash
		}
		t.Shown++
	}
}

// addSlipped counts a run that says nothing.
func (t *Tally) addSlipped(r Result) {
	if t.Slipped == 0 {
		t.Slipping = r
	}
	t.Slipped++
	for _, f := range r.Report.Findings {
		t.Seen[f.Property][checker.Unknown]++
	}
}

func keepFirst(first map[checker.Property]Result, p checker.Property, r Result) {
	if _, seen := first[p]; !seen {
		first[p] = r
	}
}

// Observed is the verdict over all runs: violated if one run showed it,
// otherwise unknown if one run left it open, otherwise what they agree on.
func (t Tally) Observed(p checker.Property) checker.Verdict {
	for _, v := range []checker.Verdict{checker.Violated, checker.Unknown, checker.Holds} {
		if t.Seen[p][v] > 0 {
			return v
		}
	}
	if t.Runs == 0 {
		return checker.Unknown
	}
	return checker.NotApplicable
}

// Rate is the share of runs that violated the property, of those in which that
// was decided: a run that left it open, or in which there was nothing to judge,
// is not counted.
func (t Tally) Rate(p checker.Property) Rate {
	k := t.Seen[p][checker.Violated]
	return Rate{K: k, N: k + t.Seen[p][checker.Holds]}
}

// PerGrant is how often the property was violated, of all grants. It is at most 1,
// though a grant may have part in several violations.
func (t Tally) PerGrant(p checker.Property) Rate {
	grants := t.Measured.All().Grants
	return Rate{K: min(t.Violations[p], grants), N: grants}
}

// Conclusion is how runs compare with what was expected of them.
type Conclusion uint8

// The conclusions.
const (
	// AsExpected: what should hold held in every run, and what should be
	// violated was in at least one.
	AsExpected Conclusion = iota + 1
	// Contradiction: a run showed what no further run can mend.
	Contradiction
	// Undecided: something was left open, was not shown, or was cut short, or a run
	// slipped.
	Undecided
)

func (c Conclusion) String() string {
	switch c {
	case AsExpected:
		return "as expected"
	case Contradiction:
		return "contradiction"
	}
	return "undecided"
}

// Conclusion compares the runs with the scenario's expectations. One run can
// contradict them; nothing less than all runs can fulfil them.
func (t Tally) Conclusion() Conclusion {
	switch {
	case t.Against > 0:
		return Contradiction
	case t.Interrupted || t.Slipped > 0 || t.Runs == 0:
		return Undecided
	}
	for _, p := range checker.Properties() {
		if !t.Scenario.Expect.Fulfilled(p, t.Seen[p], t.Runs) {
			return Undecided
		}
	}
	return AsExpected
}
