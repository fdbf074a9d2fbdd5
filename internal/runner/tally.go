package runner

import (
	"fmt"
	"math"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Tally is the summary of a batch of runs.
type Tally struct {
	Scenario scenarios.Scenario
	Runs     int

	// Seen counts the runs by property and verdict.
	Seen map[checker.Property]map[checker.Verdict]int

	// Violations counts the violations of a property in all runs.
	Violations map[checker.Property]int

	// First and FirstUnknown hold, for each property, the first run with a violation or an
	// unknown verdict.
	First, FirstUnknown map[checker.Property]Result

	// Shown counts the runs that showed the expected verdicts by themselves, Against those that
	// contradict them whatever further runs show. Witness is the seed of the first contradicting
	// run, or else of the first that showed them; WitnessTrace is the hash of its trace.
	Shown, Against int
	Witness        uint64
	WitnessTrace   uint64

	// Measured has the measurements of all runs.
	Measured Aggregate

	// Slipped counts the runs that slipped, and Slipping is the first of them. All their
	// verdicts count as unknown, and their measurements are left out.
	Slipped  int
	Slipping Result

	// Faultless counts the runs without any fault. That they show no violation means
	// little.
	Faultless int

	// UntriedReturns counts the runs in which no client tried to acquire after a node was back: see
	// [Result.ReturnUntried].
	UntriedReturns int

	// Discarded counts the runs that slipped, or whose keys were seen too late, and that were made
	// again. They are no part of Runs.
	Discarded int

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
	if r.ReturnUntried() {
		t.UntriedReturns++
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

// addSlipped counts a run that slipped.
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

// Rate returns the share of runs that violated the property, among those with a verdict of
// holds or violated.
func (t Tally) Rate(p checker.Property) Rate {
	k := t.Seen[p][checker.Violated]
	return Rate{K: k, N: k + t.Seen[p][checker.Holds]}
}

// PerGrant returns the number of violations per grant. It is at most 1, though a grant may
// be part of several violations. Effect exclusion is violated once a resource at most, so of many grants it says little.
func (t Tally) PerGrant(p checker.Property) Rate {
	grants := t.Measured.All().Grants
	return Rate{K: min(t.Violations[p], grants), N: grants}
}

// Conclusion is how runs compare with the scenario's expectation.
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

// Conclusion compares the runs with the scenario's expectations. One run can contradict
// them; only all runs together can fulfil them.
func (t Tally) Conclusion() Conclusion {
	switch {
	case t.Against > 0:
		return Contradiction
	case t.Interrupted || t.Slipped > 0 || t.Runs == 0:
		return Undecided
	}
	conclusion := AsExpected
	for _, m := range t.Limits() {
		switch m.Verdict() {
		case checker.Violated:
			return Contradiction
		case checker.Unknown:
			conclusion = Undecided
		}
	}
	for _, p := range checker.Properties() {
		if !t.Scenario.Expect.Fulfilled(p, t.Seen[p], t.Runs) {
			return Undecided
		}
	}
	return conclusion
}

// Rate is how often something occurred: K times out of N, 0 ≤ K ≤ N.
type Rate struct{ K, N int }

// z is the quantile of the normal distribution that leaves 2.5 % on either side.
const z = 1.959963984540054

// Wilson returns the 95 % score interval of the probability behind the rate
// (Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
// JASA 22, 1927; without a correction for continuity). Unlike the textbook's it
// is of use for rates of 0 and 1. Of no trials it is all of [0, 1].
func (r Rate) Wilson() (lo, hi float64) {
	if r.N == 0 {
		return 0, 1
	}
	n, p := float64(r.N), r.Share()
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	lo, hi = (middle-half)/(1+z*z/n), (middle+half)/(1+z*z/n)
	if r.K == 0 {
		lo = 0 // exactly
	}
	if r.K == r.N {
		hi = 1
	}
	return lo, hi
}

// Share returns K/N, or 0 of no trials.
func (r Rate) Share() float64 {
	if r.N == 0 {
		return 0
	}
	return float64(r.K) / float64(r.N)
}

// Plus returns the rate of both together.
func (r Rate) Plus(s Rate) Rate { return Rate{r.K + s.K, r.N + s.N} }

// String prints as in "3/100".
func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.K, r.N) }

// Interval prints the interval in percent, as in "[1.0, 8.5]".
func (r Rate) Interval() string {
	lo, hi := r.Wilson()
	return fmt.Sprintf("[%s, %s]", percent(lo), percent(hi))
}

// Percent prints the share in percent, as in "3.0 %".
func (r Rate) Percent() string { return percent(r.Share()) + " %" }

// PerMillion prints the rate and its interval per million, as in "30000 [10255,
// 84519]".
func (r Rate) PerMillion() string {
	lo, hi := r.Wilson()
	return fmt.Sprintf("%.0f [%.0f, %.0f]", 1e6*r.Share(), 1e6*lo, 1e6*hi)
}

// percent prints a share to a tenth of a percent, small ones to two digits.
func percent(share float64) string {
	switch {
	case share == 0 || share == 1:
		return fmt.Sprintf("%.0f", 100*share)
	case share < 0.001:
		return fmt.Sprintf("%.2g", 100*share)
	}
	return fmt.Sprintf("%.1f", 100*share)
}
