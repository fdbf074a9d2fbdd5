package checker_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

// script is one try of a client in a random history, and what follows if it is
// granted. Times are small whole numbers, so that many coincide; see [reading] for
// the client's clock. A time of never is none.
type script struct {
	hold     int // its number: each has a token of its own
	client   int
	resource string
	call     int
	ret      int // of acquire, if it was granted or refused
	refused  bool
	until    int
	extends  []extension
	again    *reentry
	writes   []access // of a try that has not returned, each of another value
	warned   int
	lost     int
	release  int
	released int
	outcome  history.Outcome // of the release
	killed   int
	cutShort bool // the client died in the call of acquire
	weight   int  // permits, as its grant says; 0: all
}

// reentry is a further grant to the owner, and the release that leaves it.
type reentry struct {
	call, ret, until, release int
}

type extension struct {
	call, ret, until int
	granted          bool
}

// failed reports whether the extension returned that it was not granted.
func (e extension) failed() bool { return !e.granted && e.ret < never && e.ret%2 == 0 }

type access struct {
	call, ret int
	took      bool // it was accepted, as its return says
	applied   bool // there is no return, and the resource says that it took it
	unheard   bool // its client died before it could return
}

const (
	never   = 1 << 20
	horizon = 12
)

// reading is what the client's clock shows at an instant: 1 more, because an end
// of validity of 0 is none.
func reading(instant int) int64 {
	if instant >= never {
		return 0
	}
	return int64(instant) + 1
}

func instant(from int) *rapid.Generator[int] { return rapid.IntRange(from, max(from, horizon)) }

// sometimes draws an instant or never.
func sometimes(t *rapid.T, from int, label string) int {
	if rapid.IntRange(0, 2).Draw(t, label+"?") < 2 {
		return never
	}
	return instant(from).Draw(t, label)
}

// drawScripts draws what a few clients do. Some of them try twice: after the first
// try or beside it, for the same resource or for another one.
func drawScripts(t *rapid.T) []script {
	var scripts []script
	for client := range rapid.IntRange(1, 4).Draw(t, "clients") {
		killed := sometimes(t, 0, "killed")
		for range rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "tries") {
			s := drawScript(t, len(scripts)+1, client+1)
			if s.forgetAfterDeath(killed); s.call <= killed {
				scripts = append(scripts, s)
			}
		}
	}
	return scripts
}

func drawScript(t *rapid.T, hold, client int) script {
	s := script{hold: hold, client: client, call: instant(0).Draw(t, "call"), resource: "r"}
	s.ret, s.warned, s.lost, s.release, s.released = never, never, never, never, never
	if rapid.IntRange(0, 4).Draw(t, "resource") == 4 {
		s.resource = "s"
	}
	s.until = s.call + rapid.SampledFrom([]int{4, 8, 6, 3, 2, 1, 0, never, never}).Draw(t, "ttl")
	switch rapid.IntRange(0, 7).Draw(t, "outcome") {
	case 5, 6:
		s.drawUnknown(t)
	case 7:
		s.ret, s.refused = instant(s.call).Draw(t, "return"), true
	default:
		s.drawGranted(t)
	}
	return s
}

func (s *script) drawGranted(t *rapid.T) {
	s.ret = min(s.call+rapid.IntRange(0, 4).Draw(t, "took"), horizon+4)
	last := s.ret
	for range rapid.IntRange(0, 2).Draw(t, "extensions") {
		e := extension{call: instant(last).Draw(t, "extend")}
		e.ret = e.call + rapid.IntRange(0, 3).Draw(t, "took")
		e.until = e.call + rapid.IntRange(1, 6).Draw(t, "until")
		e.granted = rapid.Bool().Draw(t, "granted")
		if s.extends = append(s.extends, e); !e.granted {
			break
		}
		last = e.ret + 1 // two calls of one kind in one instant could not be told apart
	}
	s.warned = sometimes(t, s.call, "warned")
	s.lost = sometimes(t, s.call, "lost")
	s.drawRelease(t, s.ret)
	if len(s.extends) == 0 {
		s.drawAgain(t)
	}
}

// drawAgain draws a grant to the owner while it holds, if there is room for one.
func (s *script) drawAgain(t *rapid.T) {
	last := min(s.until, s.lost, s.release-2, horizon+8)
	if last <= s.ret {
		return
	}
	a := reentry{call: rapid.IntRange(s.ret+1, last).Draw(t, "again")}
	a.ret = rapid.IntRange(a.call, last).Draw(t, "granted again")
	a.until = a.ret + rapid.IntRange(0, 6).Draw(t, "until")
	if s.release < never {
		a.release = rapid.IntRange(a.ret+1, s.release-1).Draw(t, "leaves")
	} else {
		a.release = sometimes(t, a.ret+1, "leaves")
	}
	s.again = &a
}

func (s *script) drawRelease(t *rapid.T, from int) {
	if s.release = sometimes(t, from, "release"); s.release == never {
		return
	}
	s.outcome = history.Outcome(rapid.IntRange(0, 3).Draw(t, "released"))
	if s.outcome != 0 {
		s.released = s.release + int(s.outcome) - 1
	}
}

// forgetAfterDeath removes what a dead client cannot do or learn. Its earlier actions may still
// take effect.
func (s *script) forgetAfterDeath(killed int) {
	s.killed = killed
	if s.ret < never && s.ret > killed { // it died in mid-call
		s.ret, s.refused, s.extends, s.again, s.cutShort = never, false, nil, nil, true
		s.warned, s.lost, s.release = never, never, never
	}
	for _, at := range []*int{&s.warned, &s.lost, &s.release, &s.released} {
		if *at > killed {
			*at = never
		}
	}
	s.extends = slices.DeleteFunc(s.extends, func(e extension) bool { return e.call > min(killed, s.released) })
	for i := range s.extends {
		if e := &s.extends[i]; e.ret > killed {
			e.ret, e.granted = never, false
		}
	}
	if a := s.again; a != nil && a.ret > killed {
		s.again = nil
	} else if a != nil && a.release > killed {
		a.release = never
	}
	s.writes = slices.DeleteFunc(s.writes, func(w access) bool { return w.call > killed })
	for i := range s.writes {
		if w := &s.writes[i]; w.ret > killed {
			w.took, w.applied = false, w.took || w.applied
			w.unheard = true
		}
	}
}

// drawUnknown draws a try that never returns, and perhaps acts under it, which may overlap.
func (s *script) drawUnknown(t *rapid.T) {
	last := s.call
	for range rapid.SampledFrom([]int{0, 1, 3, 4, 4}).Draw(t, "acts") {
		at := instant(last).Draw(t, "act")
		took := rapid.IntRange(0, 4).Draw(t, "took")
		switch kind := rapid.IntRange(0, 2).Draw(t, "kind of act"); {
		case kind == 0:
			s.writes = append(s.writes, access{call: at, ret: at + took, took: rapid.Bool().Draw(t, "accepted")})
		case kind == 1:
			s.writes = append(s.writes, access{call: at, ret: at + took, applied: rapid.Bool().Draw(t, "applied")})
		case len(s.extends) == 0:
			s.extends = []extension{{call: at, ret: at + took, until: at + 1 + rapid.IntRange(0, 4).Draw(t, "until"), granted: rapid.Bool().Draw(t, "granted")}}
		}
		last = max(last, at)
	}
	if s.acted() < never {
		s.drawRelease(t, last)
	}
}

// acted returns the call of the first act that shows that a try was granted which
// never returned.
func (s *script) acted() int {
	first := never
	for _, w := range s.writes {
		if w.took || w.applied {
			first = min(first, w.call)
		}
	}
	if s.ret == never && len(s.extends) > 0 && s.extends[0].granted {
		first = min(first, s.extends[0].call)
	}
	return first
}

// acts is how many there are of a try that never returned.
func (s *script) acts() int {
	if s.ret < never {
		return 0
	}
	return len(s.writes) + len(s.extends)
}

func token(hold int) string { return string(rune('A' + hold)) }

// events writes the script, except for its client's death.
func (s *script) events() []history.Event {
	var events []history.Event
	add := func(at int, e history.Event) {
		if at >= never {
			return
		}
		e.Time, e.Client, e.Resource, e.Token = history.Time(at), s.client, s.resource, token(s.hold)
		events = append(events, e)
	}
	add(s.call, history.Event{Kind: history.Acquire})
	switch {
	case s.refused:
		add(s.ret, history.Event{Kind: history.Refused})
	default:
		add(s.ret, history.Event{Kind: history.Granted, Until: reading(s.until), Validity: 1, Weight: s.weight})
	}
	add(s.until, history.Event{Kind: history.Lapse, Until: reading(s.until)})
	for _, e := range s.extends {
		add(e.call, history.Event{Kind: history.Extend, Until: reading(e.until)})
		add(e.until, history.Event{Kind: history.Lapse, Until: reading(e.until)})
		if e.granted {
			add(e.ret, history.Event{Kind: history.Extended, Until: reading(e.until), Validity: 1})
		} else if e.failed() {
			add(e.ret, history.Event{Kind: history.ExtendFailed})
		}
	}
	if a := s.again; a != nil {
		add(a.call, history.Event{Kind: history.Acquire})
		add(a.ret, history.Event{Kind: history.Granted, Until: reading(a.until), Validity: 1})
		add(a.until, history.Event{Kind: history.Lapse, Until: reading(a.until)})
		add(a.release, history.Event{Kind: history.Release})
		add(a.release, history.Event{Kind: history.Released, Outcome: history.OK})
	}
	for i := range s.writes {
		s.writes[i].add(add, int64(i+1))
	}
	add(s.warned, history.Event{Kind: history.Expiring})
	add(s.lost, history.Event{Kind: history.Lost})
	add(s.release, history.Event{Kind: history.Release})
	add(s.released, history.Event{Kind: history.Released, Outcome: s.outcome})
	return events
}

func (w *access) add(add func(int, history.Event), value int64) {
	add(w.call, history.Event{Kind: history.Write, Value: value})
	switch {
	case w.took:
		add(w.ret, history.Event{Kind: history.WriteDone, Value: value, Outcome: history.OK})
	case w.applied:
		add(w.ret, history.Event{Kind: history.Apply, Value: value})
	case w.ret%2 == 0 && !w.unheard:
		add(w.ret, history.Event{Kind: history.WriteDone, Value: value, Outcome: history.Declined})
	}
}

// write puts scripts, and what else took place, together to a history. Events of one
// instant come in an order that the seed decides.
func write(scripts []script, seed uint64, besides ...history.Event) (history.Header, []history.Event) {
	events := slices.Clone(besides)
	dead := map[int]bool{}
	for i := range scripts {
		s := &scripts[i]
		events = append(events, s.events()...)
		if s.killed < never && !dead[s.client] {
			dead[s.client] = true
			events = append(events, history.Event{Time: history.Time(s.killed), Kind: history.Kill, Client: s.client})
		}
	}
	events = shuffleTies(events, seed)
	end := history.Time(horizon * 3)
	if len(events) > 0 {
		end = max(end, events[len(events)-1].Time+1)
	}
	events = append(events, history.Event{Time: end, Kind: history.End})
	return history.Header{Nodes: 5, Clients: len(scripts) + 1, LongestTTL: time.Millisecond, UntilClock: history.ClientClock}, events
}

// shuffleTies draws another order of simultaneous events. A node's changes of one resource's keys
// keep their order.
func shuffleTies(events []history.Event, seed uint64) []history.Event {
	type place struct {
		at       history.Time
		node     int
		resource string
	}
	of := func(e *history.Event) place { return place{e.Time, e.Node, e.Resource} }
	isKey := func(e *history.Event) bool {
		return e.Kind == history.KeySet || e.Kind == history.KeyExtended || e.Kind == history.KeyGone
	}
	inOrder := map[place][]history.Event{}
	for i := range events {
		if e := &events[i]; isKey(e) {
			inOrder[of(e)] = append(inOrder[of(e)], *e)
		}
	}
	events = slices.Clone(events)
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	slices.SortStableFunc(events, func(a, b history.Event) int { return int(a.Time - b.Time) })
	for i := range events {
		if e := &events[i]; isKey(e) {
			p := of(e)
			events[i], inOrder[p] = inOrder[p][0], inOrder[p][1:]
		}
	}
	return events
}
