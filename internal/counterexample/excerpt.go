package counterexample

import (
	"cmp"
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
	property checker.Property
	first    checker.Finding
	codes    []string // of all findings
	both     bool     // lease and section exclusion
	cut      bool     // the end of a truncated history
	place    checker.Place
	header   history.Header

	leases   nearby[checker.Window]
	sections nearby[checker.Window]
	accesses nearby[checker.Access]
	unknown  nearby[checker.Access] // accesses that may have been applied at any later time
	spans    *spans

	checker *checker.Checker // reports windows and accesses

	now     history.Time // of the last event
	stopped bool         // reading stopped because there was enough
	broken  error        // why the rest of the history cannot be read
}

// Limits of what is kept: about 200 operations and as many annotations in all. More is hard to
// read.
var (
	keptHolds    = limits{before: 4, within: 40, after: 3}
	keptAccesses = limits{before: 24, within: 70, after: 6}
	keptUnknown  = limits{before: 10, within: 10}
	keptSpans    = limits{before: 20, within: 40, after: 10}
	keptCalls    = limits{before: 6, within: 15, after: 4}
	keptAccused  = limits{before: 2, within: 10, after: 2}
	keptWork     = limits{before: 4, within: 20, after: 4}
)

// excerpt reads the history a second time, as far as necessary.
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
	h.UntilClock = cmp.Or(h.UntilClock, p.clock)
	e := &excerpt{property: p.shownProperty(), first: p.Findings[0], both: p.cut == "" && len(p.Findings) > 1, cut: p.cut != "", header: h}
	for _, f := range p.Findings {
		e.codes = append(e.codes, f.Property.Code())
	}
	if where := e.first.Where; where != nil {
		e.place = *where
	} else { // the end of the history
		e.place = checker.Place{From: math.MaxInt64, To: math.MaxInt64}
	}
	e.leases = newNearby[checker.Window](e.place, keptHolds)
	e.sections = newNearby[checker.Window](e.place, keptHolds)
	e.accesses = newNearby[checker.Access](e.place, keptAccesses)
	e.unknown = newNearby[checker.Access](e.place, keptUnknown)
	e.spans = newSpans(e.place)
	e.spans.calls = e.cut || p.shownProperty() == checker.Lease && e.first.Property != checker.Lease
	e.spans.keys = e.first.Property == checker.Cleanup
	e.spans.accesses = e.property == checker.Effect
	e.checker = e.newChecker(h)
	return e
}

// newChecker returns a checker that reports the windows and accesses of the picture.
func (e *excerpt) newChecker(h history.Header) *checker.Checker {
	properties := []checker.Property{checker.Lease, checker.Section}
	if e.property == checker.Effect {
		properties = append(properties, checker.Effect)
	}
	c := checker.New(h, properties...)
	c.Windows(checker.Lease, func(w checker.Window) { e.window(&e.leases, w) })
	c.Windows(checker.Section, func(w checker.Window) { e.window(&e.sections, w) })
	if e.property == checker.Effect {
		c.SetSearchLimit(time.Millisecond) // the verdict does not matter here
		c.Accesses(e.access)
	}
	return c
}

func newNearby[T any](p checker.Place, l limits) nearby[T] {
	return nearby[T]{limits: l, from: p.From, to: p.To}
}

// concerns reports whether a resource belongs to the picture.
func (e *excerpt) concerns(resource string) bool {
	return e.place.Resource == "" || e.place.Resource == resource
}

func (e *excerpt) record(event *history.Event) {
	e.now = event.Time
	e.checker.Record(event)
	e.spans.observe(event, e.concerns)
}

// enough reports whether nothing that follows would be shown.
func (e *excerpt) enough() bool {
	if e.now <= e.place.To {
		return false
	}
	if e.property == checker.Effect {
		return e.accesses.enough()
	}
	return e.leases.enough() && e.sections.enough()
}

// finish closes what is open where the reading ends.
func (e *excerpt) finish() {
	if e.place.To > e.now { // the finding has no place
		e.place.From, e.place.To = min(e.place.From, e.now), e.now
	}
	e.checker.Finish()
	e.spans.follower.Finish(e.now)
}

// window keeps a window, those of the violation in any case.
func (e *excerpt) window(of *nearby[checker.Window], w checker.Window) {
	switch {
	case !e.concerns(w.Grant.Resource):
	case e.clashes(w):
		of.always = append(of.always, w)
	default:
		of.add(w, w.Call, w.To)
	}
}

// clashes reports whether the window is one of the two of the violation.
func (e *excerpt) clashes(w checker.Window) bool {
	pair := e.first.First
	return pair != nil && w.To >= e.place.From && w.Call <= e.place.To &&
		(sameGrant(w.Grant, pair.First) || sameGrant(w.Grant, pair.Second))
}

func sameGrant(a, b checker.Grant) bool {
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

// windows returns the windows that the picture's operations are made of.
func (e *excerpt) windows() *nearby[checker.Window] {
	if e.property == checker.Section {
		return &e.sections
	}
	return &e.leases
}

// limits is how many items of one kind are kept.
type limits struct {
	before int // the last ones before the place
	within int // the first ones within the place, and as many of the last
	after  int // the first ones after the place
}

// nearby keeps the items nearest to a place, so that memory does not grow with the history.
type nearby[T any] struct {
	limits
	from, to history.Time

	early  []T
	always []T // without a limit
	first  []T
	last   []T
	late   []T

	earlier, between, later int // dropped items
}

func (a *nearby[T]) add(v T, from, to history.Time) {
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

// dropped is the number of dropped items.
func (a *nearby[T]) dropped() int { return a.earlier + a.between + a.later }

// keepLast appends to a list and keeps its last items.
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

// enough reports whether later items would be dropped.
func (a *nearby[T]) enough() bool { return len(a.late) == a.limits.after }

// all returns the kept items in their order.
func (a *nearby[T]) all() []T {
	var all []T
	for _, part := range [][]T{a.early, a.always, a.first, a.last, a.late} {
		all = append(all, part...)
	}
	return all
}

// mostTimes limits the marks of instants, which take room.
const mostTimes = 12

// timeMarks marks instants: where the picture and its place begin and end, and then when
// violations, faults and accesses to the guarded resource did.
func (d *drawing) timeMarks(shown []span) []span {
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
