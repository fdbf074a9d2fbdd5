package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

// result says what is known of an order of sections.
type result uint8

const (
	legal result = iota + 1
	illegal
	undecided // the search was given up
	untried   // too many unknown writes may have taken effect or not
)

// searchLimit is the default limit of the search for an order of one segment.
const searchLimit = 2 * time.Second

// orders looks for an order in which sections can have run one after another. Where only one
// section can come next, it takes that one without a search; where several can, it tries a few of
// them. Only what remains undecided is left to porcupine, which remembers visited states.
type orders struct {
	patience int           // ways that lead nowhere, for each section, before porcupine is asked
	limit    time.Duration // of its search; 0: none
	waited   time.Duration // for the last one that was given up

	byCall     []int32 // to be used again
	next, prev []int32
	taken      []bool
	path       []step
}

// patience is the number of attempts for each section. It suffices for nearly all segments whose
// order is not obvious.
const patience = 4

// ordered reports whether the sections, sorted by their returns, can have run one after another
// from a value on.
func (o *orders) ordered(value int64, sections []*section) result {
	w := o.walk(value, sections)
	if found := w.try(o.patience * len(sections)); found != undecided {
		return found
	}
	w.backToFirst()
	rest := w.rest()
	if _, crowded := imbalance(w.value, rest, nil); crowded != nil {
		return illegal
	}
	return o.search(w.value, rest)
}

// walk is a partial order. The next section of an order is one that was called before any remaining
// section returned, and that fits the current value. The remaining sections form a ring, linked in
// the order of their calls.
type walk struct {
	*orders
	value    int64
	sections []*section
	first    int    // the first section that remains
	left     *tally // of those that remain; nil: not needed so far
}

// step is a section of an order, and the state before it.
type step struct {
	section int32
	first   int
	value   int64
	choice  bool // another section could have been next
}

func (o *orders) walk(value int64, sections []*section) *walk {
	n := int32(len(sections))
	o.byCall, o.path = o.byCall[:0], o.path[:0]
	for i := range n {
		o.byCall = append(o.byCall, i)
	}
	slices.SortFunc(o.byCall, func(a, b int32) int { return cmp.Compare(sections[a].call, sections[b].call) })
	o.taken = slices.Grow(o.taken[:0], int(n))[:n]
	clear(o.taken)
	o.next, o.prev = slices.Grow(o.next[:0], int(n)+1)[:n+1], slices.Grow(o.prev[:0], int(n)+1)[:n+1]
	last := n
	for _, i := range append(o.byCall, n) {
		o.next[last], o.prev[i] = i, last
		last = i
	}
	return &walk{orders: o, value: value, sections: sections}
}

// head is the position in the ring before the first section.
func (w *walk) head() int32 { return int32(len(w.sections)) }

// try takes one section after another, and returns to the last choice when none fits, up to a
// number of attempts.
func (w *walk) try(times int) result {
	from := w.next[w.head()]
	for w.remains() {
		next, found := w.pick(from)
		if found != illegal {
			w.take(next, found == undecided)
			from = w.next[w.head()]
			continue
		}
		if times--; times < 0 {
			return undecided
		}
		if from, found = w.back(); found == illegal {
			return illegal
		}
	}
	return legal
}

func (w *walk) remains() bool {
	for w.first < len(w.sections) && w.taken[w.first] {
		w.first++
	}
	return w.first < len(w.sections)
}

// fits returns the first section that can come next, from a position in the ring on.
func (w *walk) fits(from int32) (int32, bool) {
	for i := from; i != w.head() && w.sections[i].call <= w.sections[w.first].ret; i = w.next[i] {
		if s := w.sections[i]; s.blind || s.read == w.value {
			return i, true
		}
	}
	return 0, false
}

// pick returns the section that comes next, from a position on. The result is legal if no other
// section needs to be tried, and undecided if there is another one.
func (w *walk) pick(from int32) (int32, result) {
	next, ok := w.fits(from)
	if !ok {
		return 0, illegal
	}
	if _, more := w.fits(w.next[next]); !more {
		return next, legal
	}
	if best, found := w.best(from); found != undecided {
		return best, found
	}
	return next, undecided
}

// best returns a section with which there is an order if there is an order at all, although other
// sections fit as well.
//
// If some remaining section reads the current value and none writes it again, that reader comes
// next. If no remaining section reads the current value, a section can come next that reads nothing
// and whose own value no remaining section reads: wherever it stands in an order, what follows it
// there does not need it, and neither does what it is moved before.
func (w *walk) best(from int32) (int32, result) {
	if w.left == nil {
		w.left = count(w.rest())
	}
	readers := w.left.readers[w.value]
	if readers > 0 && w.left.writers[w.value] > 0 {
		return 0, undecided
	}
	for i, ok := w.fits(from); ok; i, ok = w.fits(w.next[i]) {
		s := w.sections[i]
		if readers == 1 && !s.blind || readers == 0 && w.left.readers[s.wrote] == 0 {
			return i, legal
		}
	}
	if readers > 0 {
		return 0, illegal
	}
	return 0, undecided
}

func (w *walk) take(i int32, choice bool) {
	w.path = append(w.path, step{section: i, first: w.first, value: w.value, choice: choice})
	w.next[w.prev[i]], w.prev[w.next[i]] = w.next[i], w.prev[i]
	w.taken[i], w.value = true, w.sections[i].wrote
	if w.left != nil {
		w.left.add(w.sections[i], -1)
	}
}

// untake undoes the last step.
func (w *walk) untake() step {
	last := w.path[len(w.path)-1]
	w.path = w.path[:len(w.path)-1]
	i := last.section
	w.next[w.prev[i]], w.prev[w.next[i]] = i, i
	w.taken[i], w.first, w.value = false, last.first, last.value
	if w.left != nil {
		w.left.add(w.sections[i], 1)
	}
	return last
}

// back undoes steps up to the last choice, and returns the position in the ring after which there
// is another candidate.
func (w *walk) back() (int32, result) {
	for len(w.path) > 0 {
		if last := w.untake(); last.choice {
			return w.next[last.section], undecided
		}
	}
	return 0, illegal
}

// backToFirst undoes all steps that had alternatives.
func (w *walk) backToFirst() {
	sure := slices.IndexFunc(w.path, func(s step) bool { return s.choice })
	for sure >= 0 && len(w.path) > sure {
		w.untake()
	}
}

// rest returns the remaining sections in the order of their returns.
func (w *walk) rest() []*section {
	rest := make([]*section, 0, len(w.sections)-w.first)
	for i, s := range w.sections[w.first:] {
		if !w.taken[w.first+i] {
			rest = append(rest, s)
		}
	}
	return rest
}

// tally counts the sections that read and write each value.
type tally struct{ readers, writers map[int64]int }

func count(sections []*section) *tally {
	t := &tally{readers: make(map[int64]int, len(sections)), writers: make(map[int64]int, len(sections))}
	for _, s := range sections {
		t.add(s, 1)
	}
	return t
}

func (t *tally) add(s *section, n int) {
	if !s.blind {
		t.readers[s.read] += n
	}
	t.writers[s.wrote] += n
}

// imbalance looks for a value that was read by more sections than it can have occurred: each
// occurrence can be read and replaced by one section only. It returns the readers of the first such
// value. Sections of perhaps may or may not have taken effect.
func imbalance(value int64, sections, perhaps []*section) (int64, []*section) {
	visits := map[int64]int{value: 1}
	for _, list := range [][]*section{sections, perhaps} {
		for _, s := range list {
			visits[s.wrote]++
		}
	}
	readers := map[int64]int{}
	for _, s := range sections {
		if s.blind {
			continue
		}
		readers[s.read]++
		if readers[s.read] > visits[s.read] {
			return s.read, readersOf(s.read, sections)
		}
	}
	return 0, nil
}

// overread reports whether values were read more often than they can have occurred, even if each
// section in progress, whose write has not been called, will produce one occurrence. A section in
// progress gains nothing if the value that it has read and replaces is needed as well.
func overread(value int64, sections, perhaps, ongoing []*section) bool {
	t := count(sections)
	t.writers[value]++
	for _, s := range perhaps {
		t.writers[s.wrote]++
	}
	for _, s := range ongoing {
		if s.stage == writing {
			t.writers[s.wrote]++
		}
	}
	excess := 0
	for v, n := range t.readers {
		excess += max(0, n-t.writers[v])
	}
	for _, s := range ongoing {
		if s.stage == reading || s.stage == holding && t.readers[s.read] < t.writers[s.read] {
			excess--
		}
	}
	return excess > 0
}

func readersOf(value int64, sections []*section) []*section {
	var readers []*section
	for _, s := range sections {
		if !s.blind && s.read == value {
			readers = append(readers, s)
		}
	}
	return readers
}

// search asks porcupine. After an undecided search it lowers the limit.
func (o *orders) search(value int64, sections []*section) result {
	ops := make([]porcupine.Operation, len(sections))
	for i, s := range sections {
		ops[i] = porcupine.Operation{
			ClientId: s.client - 1,
			Call:     int64(s.call), Return: int64(s.ret),
			Input: model.SectionInput{Resource: s.resource.name, Blind: s.blind, Read: s.read, Wrote: s.wrote},
		}
	}
	switch porcupine.CheckOperationsTimeout(model.RegisterFrom(value), ops, o.limit) {
	case porcupine.Ok:
		return legal
	case porcupine.Illegal:
		return illegal
	}
	o.waited, o.limit = o.limit, max(o.limit/2, 1)
	return undecided
}
