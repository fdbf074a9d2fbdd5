package explore

import (
	"context"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// search explores the runs with one plan. It is the chooser of their worlds.
type search struct {
	experiment runner.Experiment
	deviations int // at most so many in a run
	limits     Limits
	wanted     []checker.Property
	each       func(runner.Result) // is called for every execution; may be nil
	noMerging  bool                // no state is recognised

	path   []fork // the points of the run up to the last that has another way
	at     int    // of the next point in the path
	left   int    // deviations that the run may still have
	cut    bool   // the run was stopped, because the rest shows nothing new
	looked int64  // ground time at which the state was looked up last; -1: never

	seen map[sim.State]int // the states, and the most deviations that were left in each

	tally    Tally
	best     *Find // the shortest; nil: none
	finished bool  // every run was made
}

// fork is a point of a run, with the number of ways on and the way that is taken.
type fork struct{ ways, way int }

// Tally counts the runs of a search.
type Tally struct {
	Executions int     `json:"executions"` // runs up to their end
	Cut        int     `json:"cut"`        // runs that were stopped, because the rest shows nothing new
	States     int     `json:"states"`     // that are remembered
	Share      float64 `json:"share"`      // of the runs that were made, from 0 to 1; an estimate, unless it is 1
}

// Find is a run that violates a property.
type Find struct {
	Property checker.Property
	Events   int
	Faults   int
	Ways     []int // at the points of the run, without zeros at the end
	Result   runner.Result
}

// shorter reports whether a run has fewer events, or as many and fewer faults.
func (f *Find) shorter(than *Find) bool {
	return than == nil || f.Events < than.Events || f.Events == than.Events && f.Faults < than.Faults
}

// seed is the seed of all runs: what is no choice, such as tokens, follows from it.
const seed = 1

func newSearch(e runner.Experiment, c sim.Choices, deviations int, l Limits, wanted []checker.Property) *search {
	s := &search{deviations: deviations, limits: l, wanted: wanted, seen: map[sim.State]int{}}
	if deviations < 0 {
		s.deviations = math.MaxInt
	}
	c.Chooser = s
	s.experiment = opening(e, c)
	return s
}

// opening returns the experiment with worlds that have choices.
func opening(e runner.Experiment, c sim.Choices) runner.Experiment {
	return e.WithOpener(func(ctx context.Context, setting nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		return sim.OpenBranching(ctx, setting, seed, sink, c)
	})
}

// run explores until every run has been made, ctx ends, or the limit is reached. It calls progress
// now and then.
func (s *search) run(ctx context.Context, progress func(Tally)) error {
	for more := true; more; more = s.next() {
		made := s.tally.Executions + s.tally.Cut
		if made%reportEvery == 0 || made == s.limits.Executions || ctx.Err() != nil {
			s.tally.Share = s.share()
			progress(s.tally)
		}
		if made == s.limits.Executions || ctx.Err() != nil {
			return nil
		}
		if err := s.once(ctx); ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
	}
	s.tally.Share, s.finished = 1, true
	progress(s.tally)
	return nil
}

// reportEvery is how many runs there are between two reports of progress.
const reportEvery = 1024

// once makes the run of the path.
func (s *search) once(ctx context.Context) error {
	s.at, s.left, s.cut, s.looked = 0, s.deviations, false, -1
	result, err := s.experiment.Run(ctx, seed, nil)
	switch {
	case s.cut: // err is [sim.ErrStopped]
		s.tally.Cut++
		return nil
	case err != nil:
		return err
	case result.Interrupted:
		return ctx.Err()
	}
	s.tally.Executions++
	if s.each != nil {
		s.each(result)
	}
	verdicts := result.Report.Verdicts()
	if i := slices.IndexFunc(s.wanted, func(p checker.Property) bool { return verdicts[p] == checker.Violated }); i >= 0 {
		s.best = &Find{Property: s.wanted[i], Events: result.Events, Faults: len(result.Plan), Ways: s.ways(), Result: result}
	}
	return nil
}

// Choose implements [sim.Chooser].
func (s *search) Choose(_ sim.Point, ways int) int {
	if s.at == len(s.path) {
		if s.left == 0 {
			return 0
		}
		s.path = append(s.path, fork{ways: ways})
	}
	way := s.path[s.at].way
	s.at++
	if way != 0 {
		s.left--
	}
	return way
}

// GoOn implements [sim.Chooser]. It ends a run that is as long as a find, or in a state that was
// seen before with as many deviations left. While the run follows the one before, there is
// nothing to look up.
func (s *search) GoOn(w *sim.World) bool {
	if s.best != nil && w.Events() >= s.best.Events {
		s.cut = true
		return false
	}
	now := int64(w.Ground())
	if s.at < len(s.path) || now == s.looked || s.noMerging {
		return true
	}
	s.looked = now
	state, ok := w.State()
	if !ok {
		return true
	}
	if most, known := s.seen[state]; known && most >= s.left {
		s.cut = true
		return false
	}
	if len(s.seen) < s.limits.States {
		s.seen[state] = s.left
		s.tally.States = len(s.seen)
	}
	return true
}

// ways returns the ways of the run.
func (s *search) ways() []int {
	var all []int
	for _, f := range s.path {
		all = append(all, f.way)
	}
	for len(all) > 0 && all[len(all)-1] == 0 {
		all = all[:len(all)-1]
	}
	return all
}

// next makes the path that of the next run, and reports whether there is one.
func (s *search) next() bool {
	s.path = s.path[:s.at] // a run that was stopped may not have come to its end
	for len(s.path) > 0 {
		last := &s.path[len(s.path)-1]
		if last.way++; last.way < last.ways {
			return true
		}
		s.path = s.path[:len(s.path)-1]
	}
	return false
}

// share estimates the share of the runs that have been made, as if each way at a point led to as
// many runs.
func (s *search) share() float64 {
	done, width := 0.0, 1.0
	for _, f := range s.path {
		width /= float64(f.ways)
		done += width * float64(f.way)
	}
	return done
}
