package explore

import (
	"context"
	"errors"
	"math"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// search explores the runs with one plan. It is the driver of each.
type search struct {
	experiment runner.Experiment
	deviations int // at most so many in a run
	limits     Limits
	wanted     []checker.Property
	choices    runner.Choices // of the worlds
	faults     []scenarios.Pick
	each       func(runner.Result) // is called for every execution; may be nil
	noMerging  bool                // no state is recognised

	path   []fork // the points of the run up to the last that has another way
	at     int    // of the next point in the path
	left   int    // deviations that the run may still have
	cut    bool   // the run was stopped, because the rest shows nothing new
	events int    // of the run so far
	looked int64  // ground time at which the state was looked up last; -1: never
	shape  shape  // of the runs so far, from which the share that was made is estimated

	seen map[choice.State]visit

	record
}

// visit is how a state was reached: with how many deviations left, after how many events.
type visit struct{ left, events int }

// covers reports whether a later visit shows nothing new, and no shorter run.
func (v visit) covers(later visit) bool { return v.left >= later.left && v.events <= later.events }

// fork is a point of a run, with the number of ways on and the way that is taken.
type fork struct{ ways, way uint64 }

// seed is the seed of all runs: what is no choice, such as tokens, follows from it.
const seed = 1

func newSearch(e runner.Experiment, c runner.Choices, deviations int, l Limits, wanted []checker.Property) *search {
	s := &search{
		choices: c, deviations: deviations, limits: l, wanted: wanted, seen: map[choice.State]visit{},
		record: record{Verdicts: map[checker.Property]map[checker.Verdict]int{}, Finds: map[checker.Property]*Find{}},
	}
	for _, p := range wanted {
		s.Verdicts[p] = map[checker.Verdict]int{}
	}
	if deviations < 0 {
		s.deviations = math.MaxInt
	}
	s.experiment = e.WithCourse(runner.Course{Choices: &c}).WithDriver(s)
	return s
}

// run explores until every run has been made, ctx ends, or the limit is reached. It calls progress
// now and then, and at the end.
func (s *search) run(ctx context.Context, progress func(Tally)) error {
	defer func() { progress(s.Tally) }()
	reported := -reportEvents
	for !s.Finished {
		made := s.Tally.made()
		if made == s.limits.Executions || s.deviations > 0 && s.Tally.Events >= s.limits.Events || ctx.Err() != nil {
			return nil
		}
		if made%reportRuns == 0 || s.Tally.Events-reported >= reportEvents {
			reported = s.Tally.Events
			progress(s.Tally)
		}
		if err := s.step(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	return nil
}

// There are at most so many runs, and about so many events, between two reports of progress.
const (
	reportRuns   = 1024
	reportEvents = 500_000
)

// step makes the run of the path, and makes the path that of the next one.
func (s *search) step(ctx context.Context) error {
	if err := s.once(ctx); err != nil {
		return err
	}
	if s.next() {
		s.Tally.Share = s.shape.share(s)
	} else {
		s.Tally.Share, s.Finished = 1, true
	}
	return nil
}

// once makes the run of the path.
func (s *search) once(ctx context.Context) error {
	s.at, s.left, s.cut, s.events, s.looked = 0, s.deviations, false, 0, -1
	result, err := s.experiment.RunWhole(ctx, seed)
	s.shape.see(s.path)
	switch {
	case s.cut: // err says so
		s.Tally.Cut++
		return nil
	case errors.As(err, new(*nemesis.OverlapError)):
		s.Tally.Overlapping++
		s.Tally.Events += s.events
		return nil
	case err != nil:
		return err
	}
	s.Tally.Executions++
	s.Tally.Events += result.Events
	if result.ReturnUntried() {
		s.Tally.UntriedReturns++
	}
	if s.each != nil {
		s.each(result)
	}
	return s.judge(ctx, result)
}

// judge takes note of the verdicts on an execution.
func (s *search) judge(ctx context.Context, r runner.Result) error {
	verdicts := r.Report.Verdicts()
	if f := r.Report.Finding(checker.FaultTolerance); vacuous(f) {
		verdicts[f.Property] = checker.NotApplicable
	}
	for _, p := range s.wanted {
		if p == checker.DeadlockFreedom && (verdicts[p] == checker.Violated || verdicts[p] == checker.Unknown) {
			switch dead, err := deadEnd(ctx, s.experiment, s.course(), seed); {
			case err != nil:
				return err
			case !dead:
				verdicts[p] = checker.Holds
			}
		}
		s.Verdicts[p][verdicts[p]]++
		if found := s.Finds[p]; verdicts[p] == checker.Violated && (found == nil || r.Events < found.Events) {
			r.Course = s.course()
			again := r.Replay()
			again.Part.Faults = s.faults
			s.Finds[p] = &Find{Run: again.String(), Events: r.Events, Faults: len(s.faults)}
		}
	}
	return nil
}

// vacuous reports whether a run has nothing that fault tolerance is about, because no try had a chance. Of
// a single run that is unknown, since another might show it. An exploration makes the others, too. A run
// that was cut short stays unknown.
func vacuous(f checker.Finding) bool {
	return f.Undecided == "" && len(f.Events) > 0 && f.Events[0].Role == checker.RoleNotExercised
}

// tooLong reports whether a run of so many events shows nothing shorter than the finds.
func (s *search) tooLong(events int) bool {
	if len(s.wanted) == 0 || len(s.Finds) < len(s.wanted) {
		return false
	}
	for _, f := range s.Finds {
		if events < f.Events {
			return false
		}
	}
	return true
}

// Choose implements [choice.Driver].
func (s *search) Choose(w choice.World, at choice.Point, n uint64) uint64 {
	if at.Kind == choice.Next {
		if s.ends(w) {
			return 1
		}
		return 0
	}
	if s.at == len(s.path) {
		if s.left == 0 {
			s.Bound = true
			return 0
		}
		s.path = append(s.path, fork{n, 0})
	}
	way := s.path[s.at].way
	s.at++
	if way != 0 {
		s.left--
	}
	return way
}

// ends reports whether a run ends here: it is as long as the finds, or in a state that was seen before with as
// many deviations left and no more events. At its begin, and while it follows the run before, there is nothing
// to look up.
func (s *search) ends(w choice.World) bool {
	s.events = w.Events()
	if s.tooLong(s.events) {
		return s.stop()
	}
	at := int64(w.Ground())
	if s.events == 0 || s.at < len(s.path) || at == s.looked || s.noMerging {
		return false
	}
	s.looked = at
	state, ok := w.State()
	if !ok {
		return false
	}
	now := visit{s.left, s.events}
	before, known := s.seen[state]
	if known && before.covers(now) {
		return s.stop()
	}
	if known || len(s.seen) < s.limits.States {
		s.seen[state] = now
		s.Tally.States = len(s.seen)
	}
	return false
}

// stop takes note that the run ends here.
func (s *search) stop() bool {
	s.cut = true
	s.Tally.Events += s.events
	return true
}

// course returns the course of the run.
func (s *search) course() runner.Course {
	c := s.choices
	for point, f := range s.path {
		if f.way != 0 {
			c.Turns = append(c.Turns, runner.Turn{Point: point, Way: int(f.way)})
		}
	}
	return runner.Course{Choices: &c}
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

// shape is what is known of the runs of a search: the most points of one, and the other ways at a point
// of it, on the average.
type shape struct {
	points int
	others float64
}

// see takes note of the points of a run.
func (h *shape) see(path []fork) {
	if len(path) <= h.points {
		return
	}
	others := 0
	for _, f := range path {
		others += int(f.ways) - 1
	}
	h.points, h.others = len(path), float64(others)/float64(len(path))
}

// share estimates the share of the runs that have been made, as if every run had as many points as the
// longest, and no state were recognised.
func (h *shape) share(s *search) float64 {
	all := h.runs(0, s.deviations)
	if h.points == 0 || math.IsInf(all, 1) {
		return 0
	}
	done, left := 0.0, s.deviations
	for i, f := range s.path {
		if f.way == 0 {
			continue
		}
		done += h.runs(i+1, left)
		left--
		done += float64(f.way-1) * h.runs(i+1, left)
	}
	return min(done/all, 1)
}

// runs returns the number of runs that are alike up to a point, and have at most so many deviations
// from there on.
func (h *shape) runs(point, deviations int) float64 {
	points := max(h.points-point, 0)
	total, of := 1.0, 1.0 // of: those with k deviations
	for k := 1; k <= min(points, deviations); k++ {
		of *= float64(points-k+1) / float64(k) * h.others
		total += of
	}
	return total
}
