package external

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Outcome sums up the runs of a storm.
type Outcome struct {
	runner.Tally
	Exercised
	Limits map[checker.Property]Limit // the first one for each property

	promised, covered, judged, blind bool // in some run: see [Judgment]

	broken  map[checker.Property]bool // a promise, in some run
	unasked map[checker.Property]bool // violated in some run, not promised, and excused by nothing

	open    map[checker.Property]Undecided // the first run for each property
	decided map[checker.Property]bool      // in some run
}

// Undecided is a promise that a run leaves undecided.
type Undecided struct {
	checker.Finding
	Seed uint64 // of the run
}

// Add adds a run, its judgment, and what it has tried.
func (o *Outcome) Add(r runner.Result, j Judgment, did Exercised) {
	if o.Runs == 0 {
		*o = Outcome{
			Tally: runner.NewTally(r.Scenario), Limits: map[checker.Property]Limit{},
			broken: map[checker.Property]bool{}, unasked: map[checker.Property]bool{},
			open: map[checker.Property]Undecided{}, decided: map[checker.Property]bool{},
		}
	}
	o.Tally.Add(r)
	o.Exercised.Add(did)
	o.promised, o.covered, o.judged, o.blind = o.promised || j.promised, o.covered || j.covered, o.judged || j.decided, o.blind || j.blind
	for _, f := range j.Broken {
		o.broken[f.Property] = true
	}
	for _, l := range j.Limits {
		o.unasked[l.Property] = o.unasked[l.Property] || l.unasked
		if _, seen := o.Limits[l.Property]; !seen {
			o.Limits[l.Property] = l
		}
	}
	for _, f := range j.Open {
		if _, seen := o.open[f.Property]; !seen {
			o.open[f.Property] = Undecided{f, r.Seed}
		}
	}
	for _, f := range r.Report.Findings {
		if f.Verdict == checker.Holds && !r.Slipped() {
			o.decided[f.Property] = true
		}
	}
}

// Undecided returns the first promise that the runs leave undecided. With generated plans one run
// that decides it is enough, because some plans cannot, such as one that cuts a client off for good.
func (o *Outcome) Undecided() (Undecided, bool) {
	for _, p := range checker.Properties() {
		if u, open := o.open[p]; open && (o.Scenario.Generate == nil || !o.decided[p]) {
			return u, true
		}
	}
	return Undecided{}, false
}

// Unpromised reports whether no promise covers the faults of any run.
func (o *Outcome) Unpromised() bool { return o.promised && !o.covered }

// NothingDone says what a storm without faults shows a lock never to do, or "": that is a failure, although a lock that
// does nothing violates nothing.
func (o *Outcome) NothingDone() string {
	if o.Slipped == o.Runs || !o.faultless() {
		return ""
	}
	in := textfmt.Count(o.Runs, "run")
	switch {
	case o.Grants == 0:
		return o.nothingGranted()
	case o.Extensions == 0 && o.FailedExtensions > 0:
		return fmt.Sprintf("no hold was extended in %s: %s of Extend failed, the last one with: %s", in, textfmt.Count(o.FailedExtensions, "call"), o.ExtensionError)
	case o.BeyondTTL == 0 && o.EndlessLost > 0 && o.long() && o.Scenario.Bounds.Notice == 0:
		return fmt.Sprintf("no hold was renewed in %s: the lock gave no end, and reported a loss, of %s, none of which was longer than the TTL", in, textfmt.Count(o.EndlessLost, "hold"))
	}
	return ""
}

// faultless reports whether the storm has no faults.
func (o *Outcome) faultless() bool { return len(o.Scenario.Plan) == 0 && o.Scenario.Generate == nil }

// long reports whether all work of the storm is longer than the TTL.
func (o *Outcome) long() bool {
	return !slices.ContainsFunc(o.Scenario.Clients, func(c scenarios.Client) bool { return c.Work.Min <= o.Scenario.Lock.TTL })
}

func (o *Outcome) nothingGranted() string {
	if o.Grants > 0 || o.Slipped == o.Runs {
		return ""
	}
	said := fmt.Sprintf("nobody was granted the lock in %s", textfmt.Count(o.Runs, "run"))
	if o.Refusals > 0 {
		said += fmt.Sprintf(": %s of Lock failed, the last one with: %s", textfmt.Count(o.Refusals, "call"), o.Refusal)
	}
	return said
}

// NothingJudged says why the runs have judged nothing, or "".
func (o *Outcome) NothingJudged() string {
	if said := o.nothingGranted(); said != "" {
		return said
	}
	if o.covered && !o.judged {
		return "no run could violate what is promised"
	}
	return ""
}

// LimitTexts says which violations no promise covers, and why: those with one reason together.
func (o *Outcome) LimitTexts() (list []string) {
	codes := map[string][]string{}
	var reasons []string
	for _, p := range checker.Properties() {
		if l, is := o.Limits[p]; is {
			why := fmt.Sprintf(" violated in %v runs, which no promise covers: %v", o.Rate(p), l.Why)
			if codes[why] == nil {
				reasons = append(reasons, why)
			}
			codes[why] = append(codes[why], p.Code())
		}
	}
	for _, why := range reasons {
		list = append(list, textfmt.List(codes[why])+why)
	}
	return list
}

// Verdicts lists what was observed of properties that some run could violate, such as V1 holds. What breaks no
// promise has a mark, because it stands beside the word ok.
func (o *Outcome) Verdicts(of []checker.Property) (list []string) {
	for _, p := range of {
		v, mark := o.Observed(p), ""
		switch _, limit := o.Limits[p]; {
		case v == checker.NotApplicable:
			continue
		case v == checker.Violated && limit && !o.broken[p]:
			mark = " (limit)"
		case v == checker.Unknown && o.open[p].Property == "":
			mark = " (not promised)"
		}
		if v == checker.Violated && o.Runs > 1 {
			mark = fmt.Sprintf(" in %v%s", o.Rate(p), mark)
		}
		list = append(list, fmt.Sprintf("%s %v%s", p.Code(), v, mark))
	}
	return list
}
