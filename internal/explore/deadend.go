package explore

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// The checker finds deadlock freedom violated if nobody is granted for longer than a bound, and it cannot
// tell if the run ends before. In an exploration that may be a schedule which is unfair, because it makes
// the same clients collide again and again. So the run is continued: for as long as its horizon it takes
// the first way at each point, and clients draw random numbers. It is a dead end if nobody is granted
// then either. A cycle needs no other test: time goes on, so no state of a run comes twice, and a cycle
// of a world without its time is a continuation without a grant.

// deadEnd reports whether somebody still waits, for longer than the bound, at the end of the run of the
// path when it is continued.
func (s *search) deadEnd(ctx context.Context) (bool, error) {
	longer := s.experiment.Scenario()
	longer.Horizon *= 2
	e, err := runner.Prepare(s.experiment.Backend(), longer)
	if err != nil {
		return false, err
	}
	h := e.Header(seed)
	w := &waits{grace: h.LongestTTL + h.Bounds.Grant, resources: map[string]*waiting{}}
	r, err := e.WithCourse(s.course()).Run(ctx, seed, w)
	if err != nil {
		return false, err
	}
	return r.Report.Verdicts()[checker.DeadlockFreedom] != checker.Holds && w.lasting(), nil
}

// waits is a [history.Sink] that notes who still waits at the end.
type waits struct {
	grace     time.Duration // that a wait may last
	resources map[string]*waiting
	end       history.Time
}

// waiting is what is known of a resource.
type waiting struct {
	granted, refused history.Time // the last time
	open             int          // tries under way
}

// Record implements [history.Sink].
func (w *waits) Record(e *history.Event) {
	w.end = e.Time
	if e.Resource == "" {
		return
	}
	r := w.resources[e.Resource]
	if r == nil {
		r = new(waiting)
		w.resources[e.Resource] = r
	}
	switch e.Kind {
	case history.Acquire:
		r.open++
	case history.Granted:
		r.open--
		r.granted = e.Time
	case history.Refused:
		r.open--
		r.refused = e.Time
	}
}

// lasting reports whether somebody has waited in vain since the last grant, for longer than a wait may
// last.
func (w *waits) lasting() bool {
	for _, r := range w.resources {
		until := r.refused
		if r.open > 0 {
			until = w.end
		}
		if until > r.granted.Add(w.grace) {
			return true
		}
	}
	return false
}
