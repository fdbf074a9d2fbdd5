package inevitable

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// moment is what the history says of one event of a run. Faults that begin in one event of the world
// have a moment each.
type moment struct {
	event  int // the number of events of the world up to and with it
	time   history.Time
	events []history.Event
	begun  uint64 // the faults that have begun, as bits
}

// past is the moments of a run, in their order, up to its violation.
type past struct {
	moments []moment
	effects map[int]map[history.Time]bool // the instants at which each fault did something
	finding checker.Finding
}

// recorder is a driver that notes at which event of the world each event of the history comes.
type recorder struct {
	choice.Driver
	world choice.World // nil: before all events
	past  *past
}

// Choose implements [choice.Driver].
func (r *recorder) Choose(w choice.World, at choice.Point, n uint64) uint64 {
	r.world = w
	return r.Driver.Choose(w, at, n)
}

// Record implements [history.Sink].
func (r *recorder) Record(e *history.Event) {
	p := r.past
	if e.Fault != 0 {
		if p.effects[e.Fault] == nil {
			p.effects[e.Fault] = map[history.Time]bool{}
		}
		p.effects[e.Fault][e.Time] = true
	}
	at := 0
	if r.world != nil {
		at = r.world.Events()
	}
	next := moment{event: at + 1, time: e.Time}
	if n := len(p.moments); n > 0 {
		last := &p.moments[n-1]
		if last.event == next.event && e.Kind != history.FaultStart {
			last.events = append(last.events, *e)
			return
		}
		next.begun = last.begun
	}
	if e.Kind == history.FaultStart && e.Fault > 0 {
		next.begun |= 1 << (e.Fault - 1)
	}
	if len(p.moments) < maxMoments {
		next.events = []history.Event{*e}
		p.moments = append(p.moments, next)
	}
}

// maxMoments bounds the memory of a past: some 100 MB.
const maxMoments = 200_000

// read runs the experiment and returns its past.
func read(ctx context.Context, e runner.Experiment, seed uint64, course runner.Course, property checker.Property) (*past, error) {
	p := &past{effects: map[int]map[history.Time]bool{}}
	r := &recorder{Driver: course.Driver(), past: p}
	result, err := e.WithCourse(course).WithDriver(r).Run(ctx, seed, r)
	if err != nil {
		return nil, err
	}
	p.finding = result.Report.Finding(property)
	if where := p.finding.Where; where != nil {
		// What comes after the violation cannot have caused it.
		end := slices.IndexFunc(p.moments, func(m moment) bool { return m.time > where.To })
		if end > 0 {
			p.moments = p.moments[:end]
		}
	}
	return p, nil
}
