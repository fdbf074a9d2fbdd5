package main

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// mutantScore is what became of some mutants.
type mutantScore struct {
	Mutants     int `json:"mutants"`
	Caught      int `json:"caught"`
	AsNamed     int `json:"as_named"`     // by a property that the catalogue names
	Alarms      int `json:"alarms"`       // of locks without a defect
	ControlRuns int `json:"control_runs"` // runs of these

	// Tested counts those of these runs that put each property to the test.
	Tested map[checker.Property]int `json:"tested,omitempty"`

	Seconds float64 `json:"seconds"` // hunted, all of them
	Stopped bool    `json:"stopped"` // before all of them had been tried

	trials []mutants.Trial
}

func (s *mutantScore) add(t mutants.Trial) {
	s.trials = append(s.trials, t)
	s.Seconds += t.Seconds
	o := outcomeOf(t)
	if t.Controls() {
		s.ControlRuns += t.Runs
		s.tested(t)
	} else {
		s.Mutants++
	}
	switch o {
	case alarm:
		s.Alarms++
	case asNamed:
		s.AsNamed++
		fallthrough
	case another:
		s.Caught++
	}
}

// tested counts the runs of a trial that put properties to the test.
func (s *mutantScore) tested(t mutants.Trial) {
	if s.Tested == nil {
		s.Tested = map[checker.Property]int{}
	}
	for p, n := range t.Tested {
		s.Tested[p] += n
	}
}

// tests lists these counts.
func (s *mutantScore) tests() string {
	var parts []string
	for _, p := range checker.Properties() {
		if n := s.Tested[p]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.Code(), n))
		}
	}
	return strings.Join(parts, ", ")
}

// words is the score in a sentence or two.
func (s *mutantScore) words() string {
	var parts []string
	if s.Mutants > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d caught, %d by a property that the catalogue names.", s.Caught, s.Mutants, s.AsNamed))
	}
	if s.ControlRuns > 0 {
		parts = append(parts, fmt.Sprintf("%d false alarms in %d runs without a defect, of which so many put a property to the test: %s.", s.Alarms, s.ControlRuns, s.tests()))
	}
	if s.Stopped {
		parts = append(parts, stoppedLine)
	}
	return strings.Join(parts, " ")
}

func (s *mutantScore) table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"number", "defect", "should break", "found", "runs", "seconds", "build"}}
	for _, trial := range s.trials {
		r := recordOf(trial)
		runs, seconds := trial.Runs, trial.Seconds
		if f := trial.Caught(); f != nil {
			runs, seconds = f.Run, f.Seconds
		}
		t.Add(r.Number, r.Title, textfmt.Dash(strings.Join(mutants.Codes(trial.Names), ", ")), foundBy(trial),
			fmt.Sprint(runs), fmt.Sprintf("%.1f", seconds), fmt.Sprintf("%.1f", r.BuildSeconds))
	}
	return t
}

// foundBy is what became of a trial, for a cell.
func foundBy(t mutants.Trial) string {
	switch o := outcomeOf(t); o {
	case alarm:
		return "ALARM: " + t.Caught().Property.Code()
	case another:
		return t.Caught().Property.Code() + " (another)"
	case asNamed:
		return t.Caught().Property.Code()
	default:
		return string(o)
	}
}

// outcome is what became of a trial.
type outcome string

const (
	nothing outcome = "nothing" // was found of the lock without a defect
	alarm   outcome = "alarm"   // something was
	missed  outcome = "missed"
	another outcome = "another" // caught, by a property that the catalogue does not name
	asNamed outcome = "as_named"
)

func outcomeOf(t mutants.Trial) outcome {
	found := t.Caught() != nil
	switch {
	case t.Controls() && !found:
		return nothing
	case t.Controls():
		return alarm
	case !found:
		return missed
	case !t.AsNamed():
		return another
	}
	return asNamed
}

// trialRecord is what --json prints of one trial.
type trialRecord struct {
	Number       string             `json:"number"`
	Title        string             `json:"title"`
	ShouldBreak  []checker.Property `json:"should_break,omitempty"`
	Outcome      outcome            `json:"outcome"`
	BuildSeconds float64            `json:"build_seconds"`
	mutants.Report
}

func recordOf(t mutants.Trial) trialRecord {
	r := trialRecord{
		Number: t.Number, Title: t.Title, ShouldBreak: t.Names,
		Outcome: outcomeOf(t), BuildSeconds: t.Build.Seconds(), Report: t.Report,
	}
	if t.Controls() {
		r.Number, r.Title = unmutated, "none: "+t.Lock+" as it is"
	}
	return r
}
