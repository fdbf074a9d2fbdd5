package locks

import (
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/locktest"
)

// Board is what was seen of some locks.
type Board struct {
	Subjects []Subject
	Page     Page // about them

	mu        sync.Mutex
	Trials    []*Trial
	Witnesses []*Witness
}

// Trial is a lock in a storm.
type Trial struct {
	Subject Subject
	Series  string
	Storm   locktest.Storm
	Tally   runner.Tally
}

// Witness is a run that is stored.
type Witness struct {
	Finding *Finding
	Trial   *Trial
	Shows   []checker.Property // of those that the finding is about
	Dir     string             // relative to this package
	Report  checker.Report
	Again   runner.Tally // of its re-runs
}

// Add makes room for a lock in a storm.
func (b *Board) Add(s Subject, series string, in locktest.Storm) *Trial {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &Trial{Subject: s, Series: series, Storm: in}
	b.Trials = append(b.Trials, t)
	return t
}

// See counts a run.
func (t *Trial) See(s locktest.Seen) {
	if t.Tally.Runs == 0 {
		t.Tally = runner.NewTally(s.Scenario)
	}
	t.Tally.Add(s.Result)
}

// Decided returns how many runs count. In the others the machine was too slow for the plan.
func (t *Trial) Decided() int { return t.Tally.Runs - t.Tally.Slipped }

// Violates reports whether some run has violated a property.
func (t *Trial) Violates(p checker.Property) bool { return t.Tally.Rate(p).K > 0 }

// Missing are the properties that are to be violated, and have been in no run.
func (t *Trial) Missing() (list []checker.Property) {
	for _, p := range judged {
		f, seldom := Known(t.Subject.Name, t.Storm.Name, p)
		if f != nil && !seldom && !t.Violates(p) {
			list = append(list, p)
		}
	}
	return list
}

// Unseen reports whether the trial may show a finding that is seldom seen anywhere, and has no
// witness yet.
func (b *Board) Unseen(t *Trial) bool {
	if t.Subject.Library == "" {
		return false // a witness is of somebody else's lock
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(judged, func(p checker.Property) bool {
		f, _ := Known(t.Subject.Name, t.Storm.Name, p)
		return f != nil && f.rare() && b.witness(f) == nil
	})
}

// trial is that of a lock in a storm, or nil.
func (b *Board) trial(subject, in string) *Trial {
	i := slices.IndexFunc(b.Trials, func(t *Trial) bool { return t.Subject.Name == subject && t.Storm.Name == in })
	if i < 0 {
		return nil
	}
	return b.Trials[i]
}

// Claim makes room for the witness of a finding; nil: there is one.
func (b *Board) Claim(f *Finding) *Witness {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.witness(f) != nil {
		return nil
	}
	w := &Witness{Finding: f}
	b.Witnesses = append(b.Witnesses, w)
	return w
}

// witness returns the stored run of a finding, or nil.
func (b *Board) witness(f *Finding) *Witness {
	i := slices.IndexFunc(b.Witnesses, func(w *Witness) bool { return w.Finding == f })
	if i < 0 {
		return nil
	}
	return b.Witnesses[i]
}
