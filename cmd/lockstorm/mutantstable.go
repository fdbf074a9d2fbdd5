package main

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/mutants"
)

// mutantScore is what became of some mutants.
type mutantScore struct {
	Mutants     int     `json:"mutants"`
	Caught      int     `json:"caught"`
	AsNamed     int     `json:"as_named"`     // by a property that the catalogue names
	Alarms      int     `json:"alarms"`       // of locks without a defect
	ControlRuns int     `json:"control_runs"` // runs of these
	Seconds     float64 `json:"seconds"`      // hunted, all of them

	trials []mutants.Trial
}

func (s *mutantScore) add(t mutants.Trial) {
	s.trials = append(s.trials, t)
	s.Seconds += t.Seconds
	switch {
	case t.Controls():
		s.ControlRuns += t.Runs
		if t.Caught() != nil {
			s.Alarms++
		}
		return
	case t.Report.Named != nil:
		s.AsNamed++
	}
	s.Mutants++
	if t.Caught() != nil {
		s.Caught++
	}
}

// words is the score in a sentence or two.
func (s *mutantScore) words() string {
	var parts []string
	if s.Mutants > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d caught, %d by a property that the catalogue names.", s.Caught, s.Mutants, s.AsNamed))
	}
	if s.ControlRuns > 0 {
		parts = append(parts, fmt.Sprintf("%d false alarms in %d runs without a defect.", s.Alarms, s.ControlRuns))
	}
	return strings.Join(parts, " ")
}

func (s *mutantScore) table() *table {
	t := &table{head: []string{"number", "defect", "should break", "found", "runs", "seconds", "build"}}
	for _, trial := range s.trials {
		r := recordOf(trial)
		runs, seconds := trial.Runs, trial.Seconds
		if f := trial.Caught(); f != nil {
			runs, seconds = f.Run, f.Seconds
		}
		t.add(r.Number, r.Defect, dash(strings.Join(mutants.Codes(trial.Names), ", ")), r.Outcome,
			fmt.Sprint(runs), fmt.Sprintf("%.1f", seconds), fmt.Sprintf("%.1f", r.BuildSeconds))
	}
	return t
}

// trialRecord is what --json prints of one trial.
type trialRecord struct {
	Number       string             `json:"number"`
	Defect       string             `json:"defect"`
	Lock         string             `json:"lock"`
	ShouldBreak  []checker.Property `json:"should_break,omitempty"`
	Outcome      string             `json:"outcome"`
	BuildSeconds float64            `json:"build_seconds"`
	mutants.Report
}

func recordOf(t mutants.Trial) trialRecord {
	r := trialRecord{Number: t.Number, Defect: t.Title, Lock: t.Lock, ShouldBreak: t.Names, BuildSeconds: t.Build.Seconds(), Report: t.Report}
	if t.Controls() {
		r.Number, r.Defect = unmutated, "none: "+t.Lock+" as it is"
	}
	switch f := t.Caught(); {
	case t.Controls() && f == nil:
		r.Outcome = "nothing"
	case t.Controls():
		r.Outcome = "ALARM: " + f.Property.Code()
	case f == nil:
		r.Outcome = "missed"
	case t.Report.Named == nil:
		r.Outcome = f.Property.Code() + " (another)"
	default:
		r.Outcome = f.Property.Code()
	}
	return r
}
