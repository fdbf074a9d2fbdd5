package explore

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// The checker finds deadlock freedom violated if nobody is granted for longer than a bound, and it cannot
// tell if the run ends before. In an exploration that may be a schedule which is unfair, because it makes
// the same clients collide again and again. So the run is continued: for as long as its horizon it takes
// the first way at each point, and clients draw random numbers. It is a dead end if nobody is granted
// then either. A cycle needs no other test: time goes on, so no state of a run comes twice, and a cycle
// of a world without its time is a continuation without a grant.

// deadEnd reports whether somebody still waits, for longer than the bound, at the end of a run when it is
// continued.
func deadEnd(ctx context.Context, of runner.Experiment, course runner.Course, seed uint64) (bool, error) {
	longer := of.Scenario()
	longer.Horizon *= 2
	e, err := runner.Prepare(of.Backend(), longer)
	if err != nil {
		return false, err
	}
	var w *waits
	e = e.WithReader(func(t *timeline.Timeline) { w = &waits{timeline: t}; t.Listen(w) })
	r, err := e.WithCourse(course).RunWhole(ctx, seed)
	if err != nil {
		return false, err
	}
	return r.Report.Verdicts()[checker.DeadlockFreedom] != checker.Holds && w.lasting(), nil
}

// waits is a [timeline.Observer] that knows who still waits at the end.
type waits struct {
	timeline *timeline.Timeline
	last     timeline.PerResource[answers]
}

// answers are the last grant and the last refusal of a resource.
type answers struct{ granted, refused history.Time }

// Wants implements [timeline.Observer].
func (*waits) Wants() timeline.Kinds {
	return timeline.KindSet(history.Granted, timeline.Reentered, history.Refused)
}

// Observe implements [timeline.Observer].
func (w *waits) Observe(f *timeline.Fact) {
	last := w.last.Of(w.timeline.Resource(f.Resource))
	if f.Kind == history.Refused {
		last.refused = f.Time
	} else {
		last.granted = f.Time
	}
}

// lasting reports whether somebody has waited in vain since the last grant, for longer than a wait may
// last.
func (w *waits) lasting() bool {
	h := w.timeline.Header
	return slices.ContainsFunc(w.timeline.ResourcesInOrder(), func(r *timeline.Resource) bool {
		last, until := w.last.Of(r), w.last.Of(r).refused
		if slices.ContainsFunc(r.Holds, func(h *timeline.Hold) bool { return h.Acquire.Open }) {
			until = w.timeline.Now
		}
		return until > last.granted.Add(h.LongestTTL+h.Bounds.Grant)
	})
}
