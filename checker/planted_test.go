package checker_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// exclusionRules are the two rules by the windows that they are about.
var exclusionRules = map[checker.Property]func(*script) []referenceWindow{
	checker.Lease:   (*script).leaseWindows,
	checker.Section: (*script).sectionWindows,
}

// plant is a hold too many, put into a window of a legal history.
type plant struct {
	victim, intruder     turn
	from, to             int
	victimComes, someWay bool // the victim's window begins later; either may count as the first
}

// drawPlant puts a hold of another client somewhere into a window of the history, or
// before it and into its begin, so that it meets no other window. It returns false if the
// one that it hits upon is none, or too short.
func drawPlant(t *rapid.T, turns []turn, of func(*script) []referenceWindow) (plant, bool) {
	p := plant{victim: rapid.SampledFrom(turns).Draw(t, "victim")}
	windows := of(&p.victim.script)
	if len(windows) == 0 {
		return p, false
	}
	w := rapid.SampledFrom(windows).Draw(t, "window")
	if w.empty() {
		return p, false
	}
	s := script{hold: 40, client: 40, resource: w.resource}
	first := w.from - before(w, turns, of)
	from := rapid.IntRange(first, w.end-1).Draw(t, "from")
	if from > w.from+1 && rapid.IntRange(0, 3).Draw(t, "empty") == 0 {
		p.from, p.to = from, from
		p.intruder = turn{emptied(t, s, rapid.IntRange(w.from+1, from).Draw(t, "over"), from), over}
		return p, true
	}
	end := rapid.IntRange(max(from, w.from)+1, w.end).Draw(t, "end")
	as := drawShape(t, 0)
	p.intruder = turn{shaped(t, s, as, from, end), as}
	p.from, p.to, p.victimComes, p.someWay = max(from, w.from), end, from < w.from, from == w.from
	return p, true
}

// before returns for how long before a window its resource is free, if nothing on it rests
// on that.
func before(w referenceWindow, turns []turn, of func(*script) []referenceWindow) int {
	free := w.from
	for i := range turns {
		for _, v := range of(&turns[i].script) {
			switch {
			case v.resource != w.resource:
			case v.empty():
				return 0
			case v.end <= w.from:
				free = min(free, w.from-v.end)
			}
		}
	}
	return free
}

// TestPlantedOverlapIsNamed: of a legal history with one grant too many, that grant and the
// hold that it meets are named, and nothing else is found.
func TestPlantedOverlapIsNamed(t *testing.T) {
	for property, of := range exclusionRules {
		t.Run(property.String(), func(t *testing.T) {
			repeat(t, 5_000, func(t *rapid.T) {
				turns := drawTurns(t)
				p, ok := drawPlant(t, turns, of)
				if !ok {
					t.Skip("nothing to hit")
				}
				header, events := p.write(t, turns)
				if err := p.isNotNamedBy(judge(header, events, property).Finding(property)); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// drawInterruption puts a hold of another client between two windows of a hold that goes on.
func drawInterruption(t *rapid.T, turns []turn) (plant, bool) {
	var p plant
	goOn := slices.DeleteFunc(slices.Clone(turns), func(v turn) bool { return v.shape != anew })
	if len(goOn) == 0 {
		return p, false
	}
	p.victim = rapid.SampledFrom(goOn).Draw(t, "victim")
	w := p.victim.leaseWindows()[1]
	p.from = rapid.IntRange(w.over, w.from-1).Draw(t, "from")
	p.to = rapid.IntRange(p.from+1, w.from).Draw(t, "end")
	as := drawShape(t, 0)
	p.intruder = turn{shaped(t, script{hold: 40, client: 40, resource: w.resource}, as, p.from, p.to), as}
	return p, true
}

// TestPlantedInterruptionIsNamed: of a legal history in which somebody held the lock while
// the hold was over that an extension continued, both holds are named, that one first, and
// nothing else is found.
func TestPlantedInterruptionIsNamed(t *testing.T) {
	repeat(t, 5_000, func(t *rapid.T) {
		turns := drawTurns(t)
		p, ok := drawInterruption(t, turns)
		if !ok {
			t.Skip("nothing to interrupt")
		}
		header, events := p.write(t, turns)
		if err := p.isNotNamedBy(judge(header, events, checker.Lease).Finding(checker.Lease)); err != nil {
			t.Fatal(err)
		}
	})
}

// write draws pauses and an order of ties, and writes the history down.
func (p plant) write(t *rapid.T, turns []turn) (history.Header, []history.Event) {
	scripts := append(scriptsOf(turns), p.intruder.script)
	return write(scripts, rapid.Uint64().Draw(t, "order of ties"), pauseEvents(drawPauses(t, scripts))...)
}

// isNotNamedBy returns what is wrong with a finding in the history, or nil.
func (p plant) isNotNamedBy(f checker.Finding) error {
	if f.Verdict != checker.Violated || f.Count != 1 || f.First == nil {
		return fmt.Errorf("one hold (%s) was put into another (%s), and %v is %v with %d violations, want 1: %s",
			p.intruder.shape, p.victim.shape, f.Property, f.Verdict, f.Count, f.Story())
	}
	got := [2]string{f.First.First.Token, f.First.Second.Token}
	want := [2]string{token(p.victim.hold), token(p.intruder.hold)}
	other := [2]string{want[1], want[0]}
	switch {
	case got == want && !p.victimComes, got == other && (p.victimComes || p.someWay):
	default:
		return fmt.Errorf("hold %s was put into hold %s, and these are named: %v: %s", want[1], want[0], got, f.Story())
	}
	if int(f.First.From) != p.from || int(f.First.To) != p.to || f.First.Open {
		return fmt.Errorf("the windows overlap from %d to %d, and the judge says from %d to %d: %s", p.from, p.to, f.First.From, f.First.To, f.Story())
	}
	return nil
}
