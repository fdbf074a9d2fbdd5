package shards

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Summary is what the runs of some shards show together.
type Summary struct {
	fuzz.Counts

	// Near is how close the runs without violations came.
	Near fuzz.NearMiss `json:"near"`

	// Finds are the first runs that broke something: of each finding one, and for each set of broken
	// properties those of its first findings, in the order of their runs.
	Finds []Find `json:"finds,omitempty"`
}

// findingsOfASet is how many findings with the same broken properties a summary has. They differ in
// the kinds of faults.
const findingsOfASet = 4

// Find is a run that broke something, with what is needed to repeat it. Runs that broke the same
// properties with the same kinds of faults are one finding. Which of these faults are causes, and
// which are not, is known when the run is shrunk.
type Find struct {
	Run       int                `json:"run"` // its number in the whole hunt
	Candidate fuzz.Candidate     `json:"candidate"`
	Trace     string             `json:"trace"`  // the hash of the run's trace, in 16 hexadecimal digits
	Broken    []checker.Property `json:"broken"` // the wanted ones, in their order
}

// kinds returns the kinds of faults of the run.
func (f Find) kinds() []nemesis.Kind { return f.Candidate.Scenario.Plan.Kinds() }

// same reports whether two finds are the same finding.
func (f Find) same(o Find) bool {
	return slices.Equal(f.Broken, o.Broken) && slices.Equal(f.kinds(), o.kinds())
}

// addFind adds a run, if it is the first of a finding.
func (s *Summary) addFind(run fuzz.Run) {
	if len(run.Broken) > 0 {
		s.Finds = merged(s.Finds, []Find{{Run: run.Number, Candidate: run.Candidate, Trace: traceOf(run), Broken: run.Broken}})
	}
}

func traceOf(run fuzz.Run) string { return fmt.Sprintf("%016x", run.Result.TraceHash) }

// Join adds what other runs show. Summaries of different shards can be joined in any order and
// grouping.
func (s *Summary) Join(o Summary) {
	s.Counts.Join(o.Counts)
	s.Near = s.Near.Closer(o.Near)
	s.Finds = merged(s.Finds, o.Finds)
}

// merged returns the first find of each finding, and of each set of broken properties the first
// findings. A find that is left out here would be left out of every larger merge, too: so many
// findings with the same broken properties have earlier runs.
func merged(a, b []Find) (list []Find) {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y Find) int { return cmp.Compare(x.Run, y.Run) })
	for _, f := range all {
		ofSet := 0
		known := slices.ContainsFunc(list, func(l Find) bool {
			if slices.Equal(l.Broken, f.Broken) {
				ofSet++
			}
			return l.same(f)
		})
		if !known && ofSet < findingsOfASet {
			list = append(list, f)
		}
	}
	return list
}

// First returns the first run that broke a property; false: none did.
func (s Summary) First(p checker.Property) (Find, bool) {
	i := slices.IndexFunc(s.Finds, func(f Find) bool { return slices.Contains(f.Broken, p) })
	if i < 0 {
		return Find{}, false
	}
	return s.Finds[i], true
}

var traces = regexp.MustCompile(`^[0-9a-f]{16}$`)

// validate returns an error for a summary that the runs from first on, at most that many, cannot have.
func (s Summary) validate(first, most int) error {
	if err := s.Counts.Validate(most); err != nil {
		return err
	}
	before := first - 1
	for i, f := range s.Finds {
		err := f.validate()
		switch {
		case err != nil:
		case f.Run <= before || f.Run >= first+s.Runs:
			err = errors.New("it is none of the shard, or not in order")
		case slices.ContainsFunc(f.Broken, func(p checker.Property) bool { return s.Violations[p] == 0 }):
			err = fmt.Errorf("it broke %v, which no run violates", f.Broken)
		}
		if err != nil {
			return fmt.Errorf("find %d, of run %d: %w", i+1, f.Run, err)
		}
		before = f.Run
	}
	if len(merged(s.Finds, nil)) != len(s.Finds) {
		return errors.New("it has a finding twice, or too many of a kind")
	}
	for _, p := range checker.Properties() {
		if _, found := s.First(p); !found && s.Violations[p] > 0 {
			return fmt.Errorf("there is no find of %s, which %d runs violate", p, s.Violations[p])
		}
	}
	return nil
}

func (f Find) validate() error {
	switch {
	case !traces.MatchString(f.Trace):
		return fmt.Errorf("the trace %q: want 16 hexadecimal digits", f.Trace)
	case len(f.Broken) == 0:
		return errors.New("it broke nothing")
	}
	if err := fuzz.ValidateProperties(f.Broken); err != nil {
		return err
	}
	return f.Candidate.Validate()
}
