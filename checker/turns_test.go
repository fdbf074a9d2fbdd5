package checker_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// shape is a kind of hold whose windows are known before it is written down.
type shape string

// The shapes: how a hold goes on, and what ends it.
const (
	released    shape = "released"
	lapsed      shape = "lapsed, and warned"
	lost        shape = "lost"
	died        shape = "died"
	extended    shape = "extended"
	notExtended shape = "not extended"
	shortened   shape = "shortened by an extension that failed"
	anew        shape = "begun anew"
	wrote       shape = "unknown, and wrote"
	prolonged   shape = "unknown, and extended"
	over        shape = "over before it began"
)

// shapes are those with a window from one instant to another. The last takes 3 instants.
var shapes = []shape{released, lapsed, lost, died, extended, notExtended, shortened, wrote, prolonged, anew}

// shaped draws a hold whose windows, of lease and of section exclusion, begin at from and
// end at end, which is later. The lease window of one that is begun anew has a gap.
func shaped(t *rapid.T, s script, as shape, from, end int) script {
	between := func(from, to int, label string) int { return rapid.IntRange(from, to).Draw(t, label) }
	s.call, s.ret = max(0, from-between(0, 3, "took")), from
	s.warned, s.lost, s.release, s.released, s.killed = never, never, never, never, never
	s.until = end + between(0, 4, "spare")
	extend := func(call, ret, until int, granted bool) {
		s.extends = []extension{{call: call, ret: ret, until: until, granted: granted}}
	}
	switch as {
	case lapsed:
		s.until, s.warned = end, end
		return s
	case lost:
		s.lost = end
		return s
	case died:
		s.until, s.killed = end, end
		return s
	case notExtended:
		s.until, s.warned = end, end
		call := between(from, end, "extend")
		extend(call, call+between(0, 3, "took"), s.until+between(1, 4, "asked"), false)
		return s
	case shortened:
		s.until, s.warned = end+between(1, 4, "spare"), end
		call := between(from, end-1, "extend")
		extend(call, call+between(0, 3, "took"), end, false)
		return s
	case extended:
		s.until = between(from+1, end, "until")
		call := between(from, s.until, "extend")
		extend(call, between(call, s.until, "extended"), end+between(1, 4, "spare"), true)
	case anew:
		s.until = between(from+1, end-2, "until")
		ret := between(s.until+1, end-1, "extended")
		extend(between(from, ret, "extend"), ret, end+between(0, 4, "spare"), true)
	case wrote:
		w := access{call: from, ret: from + between(0, 3, "took"), took: rapid.Bool().Draw(t, "returned")}
		w.applied = !w.took
		s.ret, s.writes = never, []access{w}
	case prolonged:
		s.ret, s.until = never, never
		extend(from, from+between(0, 3, "took"), end+between(4, 8, "spare"), true)
	}
	s.release, s.outcome = end, history.Outcome(between(1, 3, "released"))
	s.released = end + between(0, 2, "took")
	return s
}

// drawShape draws one that has room in so many instants.
func drawShape(t *rapid.T, room int) shape {
	fit := shapes
	if room < 3 {
		fit = shapes[:len(shapes)-1]
	}
	return rapid.SampledFrom(fit).Draw(t, "shape")
}

// turn is a hold of a legal history, with its shape.
type turn struct {
	script
	shape shape
}

// drawTurns draws a history that is legal by construction, for both rules of exclusion: clients
// hold each resource in turn, and hand over at once or after a while. In between are holds that are
// over before they began, refused tries, and tries without an outcome.
func drawTurns(t *rapid.T) []turn {
	var turns []turn
	add := func(s script, as shape) { turns = append(turns, turn{s, as}) }
	begin := func(resource string) script {
		n := len(turns) + 1
		return script{hold: n, client: 1 + n%3, resource: resource}
	}
	for _, resource := range []string{"r", "s", "t"}[:rapid.IntRange(1, 3).Draw(t, "resources")] {
		now := 0
		for range rapid.IntRange(1, 4).Draw(t, "holds") {
			from := now + rapid.IntRange(0, 2).Draw(t, "gap")
			now = from + rapid.IntRange(1, 6).Draw(t, "held")
			as := drawShape(t, now-from)
			s := begin(resource)
			if as == died {
				s.client = 100 + s.hold // nobody else dies with it
			}
			add(shaped(t, s, as, from, now), as)
			switch rapid.IntRange(0, 5).Draw(t, "beside") {
			case 0:
				since := rapid.IntRange(max(0, from-2), from).Draw(t, "over")
				add(emptied(t, begin(resource), since, rapid.IntRange(from, now).Draw(t, "return")), over)
			case 1:
				s := shaped(t, begin(resource), released, from, now)
				s.ret, s.release, s.released, s.outcome, s.refused = now, never, never, 0, true
				add(s, "")
			case 2:
				s := shaped(t, begin(resource), released, from, now)
				s.ret, s.release, s.released, s.outcome, s.until = never, never, never, 0, never
				add(s, "")
			}
		}
	}
	return turns
}

// emptied draws a hold that is over, or lost, at an instant before its acquire returns.
func emptied(t *rapid.T, s script, since, ret int) script {
	s = shaped(t, s, lost, since, since)
	s.call, s.ret, s.until = min(s.call, since), ret, since
	return s
}

func scriptsOf(turns []turn) []script {
	scripts := make([]script, len(turns))
	for i := range turns {
		scripts[i] = turns[i].script
	}
	return scripts
}

// TestTurnsAreLegal: who takes turns breaks nothing, whatever ends the turns.
func TestTurnsAreLegal(t *testing.T) {
	repeat(t, 5_000, func(t *rapid.T) {
		header, events := write(scriptsOf(drawTurns(t)), rapid.Uint64().Draw(t, "order of ties"))
		report := judge(header, events, checker.Lease, checker.Section)
		for _, f := range report.Findings {
			if f.Verdict != checker.Holds {
				t.Fatalf("clients took turns, and %v is %v: %s", f.Property, f.Verdict, f.Story())
			}
		}
	})
}
