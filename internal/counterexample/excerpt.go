package counterexample

import (
	"io"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/follow"
)

// excerpt is the part of a history that a picture shows.
type excerpt struct {
	subject checker.Property
	first   checker.Finding
	codes   []string // of all that was found there
	both    bool     // that is lease and section exclusion
	cut     bool     // it is the end that is shown, because there is no more
	place   checker.Place
	header  history.Header

	leases   around[checker.Window]
	sections around[checker.Window]
	accesses around[checker.Access]
	unknown  around[checker.Access] // which may have been applied at any later time
	spans    *spans

	panel *checker.Checker // which tells the windows and accesses

	now     history.Time // of the last event that was read
	stopped bool         // it was not read to its end, because there was enough
	broken  error        // why it cannot be read to its end
}

// What is kept: at most 200 operations and about as many annotations, or nobody finds his
// way.
var (
	keptHolds    = limits{before: 4, within: 40, after: 3}
	keptAccesses = limits{before: 24, within: 70, after: 6}
	keptUnknown  = limits{before: 10, within: 10}
	keptSpans    = limits{before: 20, within: 40, after: 10}
	keptCalls    = limits{before: 6, within: 15, after: 4}
	keptAccused  = limits{before: 2, within: 10, after: 2}
	keptWork     = limits{before: 4, within: 20, after: 4}
)

// excerpt reads the history a second time, as far as it has to.
func (p Picture) excerpt(open func() (io.ReadCloser, error)) (e *excerpt, err error) {
	err = follow.Read(open, func(h history.Header) { e = newExcerpt(p, h) }, func(event *history.Event) bool {
		if e.stopped = event.Time > e.now && e.enough(); !e.stopped {
			e.record(event)
		}
		return !e.stopped
	})
	if e == nil {
		return nil, err
	}
	e.broken = err
	e.finish()
	return e, nil
}

func newExcerpt(p Picture, h history.Header) *excerpt {
	e := &excerpt{subject: p.subject(), first: p.Findings[0], both: p.cut == "" && len(p.Findings) > 1, cut: p.cut != "", header: h}
	for _, f := range p.Findings {
		e.codes = append(e.codes, f.Property.Code())
	}
	if where := e.first.Where; where != nil {
		e.place = *where
	} else { // the end of the history
		e.place = checker.Place{From: math.MaxInt64, To: math.MaxInt64}
	}
	e.leases = near[checker.Window](e.place, keptHolds)
	e.sections = near[checker.Window](e.place, keptHolds)
	e.accesses = near[checker.Access](e.place, keptAccesses)
	e.unknown = near[checker.Access](e.place, keptUnknown)
	e.spans = newSpans(e.place)
	e.spans.calls = e.cut || p.subject() == checker.Lease && e.first.Property != checker.Lease
	e.spans.keys = e.first.Property == checker.Cleanup
	e.spans.accesses = e.subject == checker.Effect
	e.panel = e.listen(h)
	return e
}

// listen returns a panel that tells what the picture shows.
func (e *excerpt) listen(h history.Header) *checker.Checker {
	told := []checker.Property{checker.Lease, checker.Section}
	if e.subject == checker.Effect {
		told = append(told, checker.Effect)
	}
	panel := checker.New(h, told...)
	panel.Windows(checker.Lease, func(w checker.Window) { e.window(&e.leases, w) })
	panel.Windows(checker.Section, func(w checker.Window) { e.window(&e.sections, w) })
	if e.subject == checker.Effect {
		panel.SetSearchLimit(time.Millisecond) // it is not the verdict that is asked for
		panel.Accesses(e.access)
	}
	return panel
}

func near[T any](p checker.Place, l limits) around[T] {
	return around[T]{limits: l, from: p.From, to: p.To}
}

// concerns reports whether something about a resource belongs to the picture.
func (e *excerpt) concerns(resource string) bool {
	return e.place.Resource == "" || e.place.Resource == resource
}

func (e *excerpt) record(event *history.Event) {
	e.now = event.Time
	e.panel.Record(event)
	e.spans.observe(event, e.concerns)
}

// enough reports whether what comes after the place would not be shown.
func (e *excerpt) enough() bool {
	if e.now <= e.place.To {
		return false
	}
	if e.subject == checker.Effect {
		return e.accesses.enough()
	}
	return e.leases.enough() && e.sections.enough()
}

// finish closes what is open where the reading ends.
func (e *excerpt) finish() {
	if e.place.To > e.now { // of a finding that says nothing of where: the end
		e.place.From, e.place.To = min(e.place.From, e.now), e.now
	}
	e.panel.Finish()
	e.spans.follower.Finish(e.now)
}

// window keeps a window. Those of a violation are kept whatever else there is.
func (e *excerpt) window(of *around[checker.Window], w checker.Window) {
	switch {
	case !e.concerns(w.Grant.Resource):
	case e.clashes(w):
		of.keep(w)
	default:
		of.add(w, w.Call, w.To)
	}
}

// clashes reports whether the window is one of the two of the violation.
func (e *excerpt) clashes(w checker.Window) bool {
	pair := e.first.First
	return pair != nil && w.To >= e.place.From && w.Call <= e.place.To &&
		(is(w.Grant, pair.First) || is(w.Grant, pair.Second))
}

func is(a, b checker.Grant) bool {
	return a.Client == b.Client && a.Token == b.Token && a.Resource == b.Resource
}

func (e *excerpt) access(a checker.Access) {
	if !e.concerns(a.Resource) {
		return
	}
	if a.Unknown {
		e.unknown.add(a, a.Call, a.Call)
		return
	}
	e.accesses.add(a, a.Call, a.Return)
}

// windows are those that the picture's operations are made of.
func (e *excerpt) windows() *around[checker.Window] {
	if e.subject == checker.Section {
		return &e.sections
	}
	return &e.leases
}

// limits is how much is kept of what there is of one kind.
type limits struct {
	before int // the place: the last
	within int // it: the first, and as many of the last
	after  int // it: the first
}

// around keeps what is closest to a place, so that memory does not grow with the history.
type around[T any] struct {
	limits
	from, to history.Time

	early []T
	vital []T // which were not to be left out
	first []T
	last  []T
	late  []T

	earlier, between, later int // that were left out
}

func (a *around[T]) add(v T, from, to history.Time) {
	switch {
	case to < a.from:
		a.early = keepLast(a.early, v, a.limits.before, &a.earlier)
	case from > a.to:
		if len(a.late) == a.limits.after {
			a.later++
			return
		}
		a.late = append(a.late, v)
	case len(a.first) < a.limits.within:
		a.first = append(a.first, v)
	default:
		a.last = keepLast(a.last, v, a.limits.within, &a.between)
	}
}

// keep keeps it whatever else there is.
func (a *around[T]) keep(v T) { a.vital = append(a.vital, v) }

// lost is how much was left out.
func (a *around[T]) lost() int { return a.earlier + a.between + a.later }

// keepLast appends to a list of which no more than the last few are kept.
func keepLast[T any](list []T, v T, most int, lost *int) []T {
	if len(list) < most {
		return append(list, v)
	}
	*lost++
	if most > 0 {
		copy(list, list[1:])
		list[most-1] = v
	}
	return list
}

// enough reports whether nothing more that comes after the place would be kept.
func (a *around[T]) enough() bool { return len(a.late) == a.limits.after }

// all returns what was kept, in the order in which it came.
func (a *around[T]) all() []T {
	var all []T
	for _, part := range [][]T{a.early, a.vital, a.first, a.last, a.late} {
		all = append(all, part...)
	}
	return all
}

// mostTimes is how many instants get a mark: each takes room.
const mostTimes = 12

// times marks the instants that the story is about: where the picture begins and ends, the
// place, and then when what is wrong, what was done to the world and what was done to
// the guarded resource began and ended.
func (d *drawing) times(shown []span) []span {
	at := []history.Time{d.from, d.to}
	add := func(of func(span) bool) {
		for _, s := range shown {
			for _, t := range []history.Time{s.from, s.to} {
				if of(s) && len(at) < mostTimes && t >= d.from && t <= d.to && !slices.Contains(at, t) {
					at = append(at, t)
				}
			}
		}
	}
	add(func(s span) bool { return s.colour == red })
	add(func(s span) bool { return s.colour == orange || s.colour == grey })
	add(func(s span) bool {
		return s.kind == history.Read || s.kind == history.Write || s.kind == history.Apply
	})
	slices.Sort(at)
	at = slices.Compact(at)
	marks := make([]span, len(at))
	for i, text := range instants(at) {
		marks[i] = span{row: "time", text: text, from: at[i], to: at[i]}
	}
	return marks
}
