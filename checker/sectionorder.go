package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

// result is what can be said of an order of sections.
type result uint8

const (
	legal result = iota + 1
	illegal
	undecided // the search was given up
	untried   // too many unknown writes may have taken effect or not
)

// searchLimit is the longest search for an order of one segment, unless the
// panel is told otherwise.
const searchLimit = 2 * time.Second

// orders looks for an order in which sections can have run one after another.
// It goes step by step as long as there is one way to go on, and leaves to
// porcupine what comes after that.
type orders struct {
	limit  time.Duration // of a search; 0: none
	waited time.Duration // for the last one that was given up
	byCall []int32       // the sections, to be used again
	window []int32
	taken  []bool
}

// ordered reports whether the sections, which are in the order of their
// returns, can have run one after another from a value on.
func (o *orders) ordered(value int64, sections []*section) result {
	w := o.walk(value, sections)
	switch w.advance() {
	case legal:
		return legal
	case illegal:
		return illegal
	}
	rest := w.rest()
	if _, crowded := imbalance(w.value, rest, nil); crowded != nil {
		return illegal
	}
	return o.search(w.value, rest)
}

// walk is an order as far as it has been found. The next section of an order
// is one that was called before any of those that remain had returned, and has
// read the value that there is.
type walk struct {
	*orders
	value    int64
	sections []*section
	called   int // so many of byCall are in the window, or were
	first    int // the first section that remains
	left     *tally
}

func (o *orders) walk(value int64, sections []*section) *walk {
	o.byCall, o.window = o.byCall[:0], o.window[:0]
	for i := range sections {
		o.byCall = append(o.byCall, int32(i))
	}
	slices.SortFunc(o.byCall, func(a, b int32) int { return cmp.Compare(sections[a].call, sections[b].call) })
	o.taken = slices.Grow(o.taken[:0], len(sections))[:len(sections)]
	clear(o.taken)
	return &walk{orders: o, value: value, sections: sections}
}

// advance takes one section after another. It is undecided where more than one
// way leads on.
func (w *walk) advance() result {
	for w.extend() {
		next, found := w.only()
		if found == undecided {
			next, found = w.choose()
		}
		if found != legal {
			return found
		}
		w.take(next)
	}
	return legal
}

// extend completes the window, the sections of which one is to be next. It
// returns false if none remains.
func (w *walk) extend() bool {
	for w.first < len(w.sections) && w.taken[w.first] {
		w.first++
	}
	if w.first == len(w.sections) {
		return false
	}
	for w.called < len(w.byCall) && w.sections[w.byCall[w.called]].call <= w.sections[w.first].ret {
		w.window = append(w.window, w.byCall[w.called])
		w.called++
	}
	return true
}

// only returns the place in the window of the section that can be next, if
// there is one and no other.
func (w *walk) only() (int, result) {
	next, found := 0, illegal
	for place, i := range w.window {
		if !w.sections[i].fits(w.value) {
			continue
		}
		if found == legal {
			return 0, undecided
		}
		next, found = place, legal
	}
	return next, found
}

func (s *section) fits(value int64) bool { return s.blind || s.read == value }

// choose returns the place of a section with which there is an order if there
// is any, although another one could be next as well.
//
// If somebody is still to read the value, and nobody to write it again, that
// reader is next. If nobody is to read it, a section can be next that needs no
// value and whose own one nobody is to read: wherever it stands in an order,
// what follows it there does not need it, nor does what it is now put before.
func (w *walk) choose() (int, result) {
	if w.left == nil {
		w.left = count(w.rest())
	}
	readers := w.left.readers[w.value]
	if readers > 0 && w.left.writers[w.value] > 0 {
		return 0, undecided
	}
	for place, i := range w.window {
		s := w.sections[i]
		switch {
		case readers == 1 && !s.blind && s.read == w.value:
			return place, legal
		case readers == 0 && s.blind && w.left.readers[s.wrote] == 0:
			return place, legal
		}
	}
	if readers > 0 {
		return 0, illegal
	}
	return 0, undecided
}

func (w *walk) take(place int) {
	i := w.window[place]
	w.window = slices.Delete(w.window, place, place+1)
	w.taken[i] = true
	w.value = w.sections[i].wrote
	if w.left != nil {
		w.left.add(w.sections[i], -1)
	}
}

// rest returns the sections that remain, in the order of their returns.
func (w *walk) rest() []*section {
	rest := make([]*section, 0, len(w.sections)-w.first)
	for i, s := range w.sections[w.first:] {
		if !w.taken[w.first+i] {
			rest = append(rest, s)
		}
	}
	return rest
}

// tally is how many sections read and write each value.
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

// imbalance looks for a value that more sections have read than can have found
// it: each time that the resource has a value, only one section can read and
// replace it. It returns the readers of the first such value. The sections of
// perhaps may have taken effect or not.
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

// overread reports whether values were read more often than they can have been
// there, even if each of the sections in progress whose write is not called
// will bring about one of them. It cannot, in sum, if it takes away another one
// that is needed, which it has read.
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

// search leaves it to porcupine. After a search in vain it is less patient.
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
