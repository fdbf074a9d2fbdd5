package checker_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// This file judges lease exclusion by the words of the README and of
// docs/history-format.md, and by brute force: of each hold it works out, instant by
// instant, whether its holder may rely on the lock until the next. It reads events, knows
// no windows, and has nothing in common with the judge, nor with reference_test.go.

// holdName says which hold an event is about.
type holdName struct {
	client          int
	resource, token string
}

// testimony is everything that a history records about one hold, each kind by time.
type testimony struct {
	name                                              holdName
	acquired, granted, extends, extended, left, lapse []history.Event
	effective                                         []history.Event // calls of acts that came to something
	lost                                              history.Time
	permits                                           int
}

// eternity is later than any instant of a history.
const eternity = history.Time(never)

func testimonies(events []history.Event, capacity int) []*testimony {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	var all []*testimony
	of := map[holdName]*testimony{}
	for _, e := range events {
		if e.Token == "" {
			continue
		}
		name := holdName{e.Client, e.Resource, e.Token}
		if of[name] == nil {
			of[name] = &testimony{name: name, lost: eternity}
			all = append(all, of[name])
		}
		of[name].hear(e)
	}
	for _, h := range all {
		h.findActs(events)
		switch { // a hold takes what its grant says, all if it says nothing, and at least one
		case len(h.granted) == 0:
			h.permits = 1
		case h.granted[0].Weight == 0:
			h.permits = capacity
		default:
			h.permits = h.granted[0].Weight
		}
	}
	return all
}

func (h *testimony) hear(e history.Event) {
	switch e.Kind {
	case history.Acquire:
		h.acquired = append(h.acquired, e)
	case history.Granted:
		h.granted = append(h.granted, e)
	case history.Extend:
		h.extends = append(h.extends, e)
	case history.Extended:
		h.extended = append(h.extended, e)
	case history.Lapse:
		h.lapse = append(h.lapse, e)
	case history.Release:
		h.left = append(h.left, e)
	case history.Lost:
		h.lost = min(h.lost, e.Time)
	}
}

// findActs finds the calls of the extensions that were granted, and of the writes that were
// accepted.
func (h *testimony) findActs(events []history.Event) {
	for _, e := range h.extended {
		if call, is := callOf(h.extends, e); is {
			h.effective = append(h.effective, call)
		}
	}
	for _, done := range events {
		took := done.Kind == history.Apply || done.Kind == history.WriteDone && done.Outcome == history.OK
		for _, e := range events {
			if took && e.Kind == history.Write && e.Token == h.name.token && e.Client == h.name.client &&
				done.Token == e.Token && done.Client == e.Client && done.Value == e.Value {
				h.effective = append(h.effective, e)
			}
		}
	}
}

// callOf returns the last call that was made at or before a return.
func callOf(calls []history.Event, e history.Event) (history.Event, bool) {
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Time <= e.Time {
			return calls[i], true
		}
	}
	return history.Event{}, false
}

// begin is when the holder may first rely on the lock: when acquire returned, or when it
// called the first act that came to something, if acquire never returned.
func (h *testimony) begin() history.Time {
	if len(h.granted) > 0 {
		return h.granted[0].Time
	}
	first := eternity
	for _, e := range h.effective {
		first = min(first, e.Time)
	}
	return first
}

// giveUp returns when the holder releases the lock or learns of its loss. For an owner that was
// granted the lock again it is the last of as many releases.
func (h *testimony) giveUp() history.Time {
	if n := max(1, len(h.granted)); len(h.left) >= n {
		return min(h.lost, h.left[n-1].Time)
	}
	return h.lost
}

// promise is an end of validity as an operation declares it that was called at an instant.
// One without an until ends with whatever lapse comes first, or, if it is for ever, never.
type promise struct {
	until   int64
	called  history.Time
	forever bool
}

func promised(e history.Event, called history.Time) promise {
	return promise{until: e.Until, called: called, forever: e.Until == 0}
}

// less reports whether it is an earlier end than another.
func (p promise) less(q promise) bool {
	return !p.forever && (q.forever || q.until != 0 && p.until < q.until)
}

// lapseOf returns the first lapse of a promise.
func (h *testimony) lapseOf(p promise) (told, since history.Time) {
	for _, e := range h.lapse {
		if p.forever || e.Time < p.called || p.until != 0 && p.until != e.Until {
			continue
		}
		if e.Since != 0 {
			return e.Time, e.Since
		}
		return e.Time, e.Time
	}
	return eternity, eternity
}

// reliance is what a hold comes to: the instants from which until the next its holder relies
// on the lock, those for which it says that it has held the lock although it could not rely
// on it, and, of a grant of which nothing was left, where it looks for a free point.
type reliance struct {
	hold         *testimony
	on, claimed  []bool
	empty        bool
	first, until history.Time // of the free points
}

// relies works a hold out, up to the end of the history.
func (h *testimony) relies(end history.Time) reliance {
	r := reliance{hold: h, on: make([]bool, end), claimed: make([]bool, end)}
	begin, giveUp := h.begin(), h.giveUp()
	if begin >= end {
		return r
	}
	var now promise
	if len(h.granted) > 0 {
		now = promised(h.granted[0], h.acquired[0].Time)
	}
	over, ended := begin, false // since when it is over, if it is
	if told, since := h.lapseOf(now); told <= begin && since < begin {
		ended = true
		r.isEmpty(begin, min(giveUp, since))
	}
	for t := begin; t < end && t <= giveUp; t++ {
		next, returned := h.returnAt(t, now)
		if told, _ := h.lapseOf(next); returned && (!ended || told > t) {
			for i := over; ended && i < t; i++ {
				r.claimed[i] = true
			}
			now, ended = next, false
		}
		told, since := h.lapseOf(now)
		if lower, is := h.lowerAt(t, now); is && !returned && told > t {
			now = lower
			told, since = h.lapseOf(now)
		}
		if !ended && told <= t {
			over, ended = t, true
		}
		r.on[t] = !ended && t < giveUp
		if t == begin && !r.on[t] && !r.empty {
			if told > t { // the holder gave it up
				since = t
			}
			r.isEmpty(begin, since)
		}
	}
	if giveUp < begin && !r.empty {
		r.isEmpty(begin, giveUp)
	}
	return r
}

// isEmpty says that nothing was left of the hold when it began.
func (r *reliance) isEmpty(begin, over history.Time) {
	r.empty, r.first, r.until = true, max(r.hold.acquired[0].Time, over), begin
}

// returnAt returns what an extension, or a further grant to the owner, declares that returns
// at an instant.
func (h *testimony) returnAt(t history.Time, now promise) (promise, bool) {
	for _, e := range h.extended {
		if call, is := callOf(h.extends, e); is && e.Time == t {
			return promised(e, call.Time), true
		}
	}
	for i := 1; i < len(h.granted) && i < len(h.acquired); i++ {
		if p := promised(h.granted[i], h.acquired[i].Time); h.granted[i].Time == t && now.less(p) {
			return p, true
		}
	}
	return now, false
}

// lowerAt returns the earlier end that an extension asks for at an instant.
func (h *testimony) lowerAt(t history.Time, now promise) (promise, bool) {
	for _, e := range h.extends {
		if p := promised(e, t); e.Time == t && e.Until != 0 && len(h.granted) > 0 && p.less(now) {
			return p, true
		}
	}
	return now, false
}

// oracle reports whether a history breaks lease exclusion.
func oracle(events []history.Event, capacity int) bool {
	end := history.Time(0)
	for _, e := range events {
		end = max(end, e.Time)
	}
	var all []reliance
	for _, h := range testimonies(events, capacity) {
		all = append(all, h.relies(end))
	}
	for _, r := range all {
		for t := range end {
			others := r.others(all, func(o reliance) bool { return o.on[t] })
			if others > 0 && (r.on[t] || r.claimed[t]) && r.hold.permits+others > capacity {
				return true
			}
		}
		if r.empty && !r.hasFreePoint(all, capacity) {
			return true
		}
	}
	return false
}

// others returns how many permits the other holds of the resource take that are so.
func (r reliance) others(all []reliance, so func(reliance) bool) (permits int) {
	for _, o := range all {
		if o.hold != r.hold && o.hold.name.resource == r.hold.name.resource && so(o) {
			permits += o.hold.permits
		}
	}
	return permits
}

// hasFreePoint reports whether there were permits enough at some point between the call, or the end
// of the validity, and the return: others relied on no more than the rest right before and right after.
func (r reliance) hasFreePoint(all []reliance, capacity int) bool {
	for p := r.first; p <= r.until; p++ {
		if p == 0 || r.hold.permits+r.others(all, func(o reliance) bool { return o.on[p-1] && o.on[p] }) <= capacity {
			return true
		}
	}
	return false
}

// drawStrays draws lapses, most of which belong to no current end of validity. Some come late, from
// tries that return: until then no lock has reported another end. An owner that is granted the lock
// again has none, because the lapse of the second grant would be recorded for the first. None comes
// in the instant in which an extension moves the end: a world watches one end at a time.
func drawStrays(t *rapid.T, scripts []script) []history.Event {
	var strays []history.Event
	for i := range scripts {
		s := &scripts[i]
		if rapid.IntRange(0, 2).Draw(t, "stray?") > 0 || s.again != nil {
			continue
		}
		e := history.Event{Kind: history.Lapse, Client: s.client, Resource: s.resource, Token: token(s.hold)}
		e.Time = history.Time(rapid.IntRange(s.call, s.call+horizon).Draw(t, "stray at"))
		if slices.ContainsFunc(s.extends, func(x extension) bool { return x.call == int(e.Time) }) {
			continue
		}
		e.Until = rapid.Int64Range(1, horizon+8).Draw(t, "stray until")
		if rapid.Bool().Draw(t, "late") && e.Time > 1 && s.ret < never {
			e.Since = history.Time(rapid.IntRange(1, int(e.Time)).Draw(t, "stray since"))
		}
		strays = append(strays, e)
	}
	return strays
}

// TestOracleAgreesWithTheJudge: by brute force from the words of the README and by the
// judge, a history breaks lease exclusion or does not, of an exclusive lock and of one with permits.
func TestOracleAgreesWithTheJudge(t *testing.T) {
	for _, capacity := range []*rapid.Generator[int]{rapid.Just(1), rapid.IntRange(2, 5)} {
		broken, all := 0, 0
		repeat(t, *histories, func(t *rapid.T) {
			scripts, permits := drawScripts(t), capacity.Draw(t, "capacity")
			for i := range scripts {
				scripts[i].weight = rapid.IntRange(0, permits).Draw(t, "weight")
			}
			besides := append(pauseEvents(drawPauses(t, scripts)), drawStrays(t, scripts)...)
			header, events := write(scripts, rapid.Uint64().Draw(t, "order of ties"), besides...)
			header.Capacity = permits
			f := judge(header, events, checker.Lease).Finding(checker.Lease)
			want := oracle(events, permits)
			if (f.Verdict == checker.Violated) != want {
				t.Fatalf("the judge: %v (%s); the oracle: broken = %v, with a capacity of %d in\n%s", f.Verdict, f.Story(), want, permits, listed(events))
			}
			if all++; want {
				broken++
			}
		})
		if !t.Failed() && (broken*10 < all || broken*2 > all) {
			t.Errorf("%d of %d histories break lease exclusion; want between a tenth and a half", broken, all)
		}
	}
}

// TestOwnersAreOneHolder: of a client that is granted the lock anew under its token, after its validity and while an
// extension of the hold before is under way, the checker reports a violation if and only if porcupine finds no order
// in which the client is one holder. Its windows that overlap are one.
func TestOwnersAreOneHolder(t *testing.T) {
	broken, excused := 0, 0
	repeat(t, *histories, func(t *rapid.T) {
		plain := script{resource: "r", ret: never, warned: never, lost: never, release: never, released: never, killed: never}
		from := func(least int, label string) int { return least + rapid.IntRange(0, 4).Draw(t, label) }
		old, anew := plain, plain
		old.hold, old.client, old.call, anew.hold, anew.client = 1, 1, from(0, "call"), 1, 1
		old.ret = from(old.call, "granted")
		old.until = from(old.ret+1, "until")
		x := extension{call: rapid.IntRange(old.ret, old.until).Draw(t, "extend"), granted: true}
		anew.ret = from(old.until+1, "granted anew")
		anew.call = rapid.IntRange(old.ret+1, anew.ret).Draw(t, "call anew")
		anew.until = from(max(anew.call, old.until+1), "until anew")
		if rapid.Bool().Draw(t, "releases") {
			anew.release = from(anew.ret+1, "release") // in one instant with the grant it could be that of the hold before
			anew.released, anew.outcome = anew.release, history.OK
		}
		x.ret = from(max(anew.ret, anew.call+1), "extended") // a call in the instant of its own return may be a re-entry by the extension
		x.until = from(x.ret+1, "extended until")
		old.extends = []extension{x}
		scripts := []script{old, anew}
		for client := range rapid.IntRange(1, 2).Draw(t, "others") {
			s := plain
			s.hold, s.client, s.call, s.until = client+2, client+2, rapid.IntRange(old.until, x.ret).Draw(t, "other"), never
			s.ret = from(s.call, "other granted")
			s.release = from(s.ret+1, "other releases")
			s.released, s.outcome = s.release, history.OK
			scripts = append(scripts, s)
		}
		header, events := write(scripts, rapid.Uint64().Draw(t, "order of ties"))
		owner, windows := append(old.leaseWindows(), anew.leaseWindows()...), windowsOf(scripts[2:], (*script).leaseWindows)
		interrupted := !legal(append(slices.Clone(windows), owner[:2]...)) && legal(append(slices.Clone(windows), owner[0]))
		if late, w := &owner[1], owner[2]; !w.empty() && late.from < w.end || w.from == late.from && !w.empty() {
			w.end = max(w.end, late.end)
			owner = []referenceWindow{owner[0], w}
		}
		want := legal(append(windows, owner...))
		f := judge(header, events, checker.Lease).Finding(checker.Lease)
		if (f.Verdict != checker.Violated) != want {
			t.Fatalf("the checker: %v (%s); porcupine: legal = %v, in\n%s", f.Verdict, f.Story(), want, listed(events))
		}
		switch {
		case !want:
			broken++
		case interrupted:
			excused++
		}
	})
	if !t.Failed() && (broken*10 < *histories || broken*10 > 9**histories || excused*100 < *histories) {
		t.Errorf("of %d histories %d break lease exclusion, and %d would without the grants anew", *histories, broken, excused)
	}
}

// TestPermitsAreNeverExceeded: plain holds break lease exclusion, and section exclusion, if and only if those that
// are held at an instant take more permits than there are.
func TestPermitsAreNeverExceeded(t *testing.T) {
	repeat(t, *histories, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 6).Draw(t, "capacity")
		var events []history.Event
		var taken [horizon]int // in [t, t+1)
		for client := range rapid.IntRange(1, 8).Draw(t, "holds") {
			from := rapid.IntRange(0, horizon-2).Draw(t, "from")
			to := rapid.IntRange(from+1, horizon-1).Draw(t, "to")
			weight := rapid.IntRange(0, capacity).Draw(t, "weight")
			for i, kind := range []history.Kind{history.Acquire, history.Granted, history.Release, history.Released} {
				e := history.Event{Time: history.Time([]int{from, from, to, to}[i]), Kind: kind, Client: client + 1, Resource: "r", Token: token(client)}
				if kind == history.Granted {
					e.Weight = weight
				}
				events = append(events, e)
			}
			if weight == 0 {
				weight = capacity
			}
			for at := from; at < to; at++ {
				taken[at] += weight
			}
		}
		events = append(shuffleTies(events, rapid.Uint64().Draw(t, "order of ties")), history.Event{Time: horizon, Kind: history.End})
		r := judge(history.Header{Nodes: 1, Clients: 8, Capacity: capacity}, events)
		want := checker.Holds
		if slices.Max(taken[:]) > capacity {
			want = checker.Violated
		}
		for _, p := range []checker.Property{checker.Lease, checker.Section} {
			if f := r.Finding(p); f.Verdict != want {
				t.Fatalf("%v: %v (%s), want %v: of %d permits %v are taken, in\n%s", p, f.Verdict, f.Story(), want, capacity, taken, listed(events))
			}
		}
	})
}

// listed writes events down for people, a line each.
func listed(events []history.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %v client %d %s until %d since %d weight %d %v\n", int(e.Time), e.Kind, e.Client, e.Token, e.Until, int(e.Since), e.Weight, e.Outcome)
	}
	return b.String()
}
