package checker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// lie is something that a legal history may be made to tell, which breaks one property
// once.
type lie struct {
	name     string
	property checker.Property
	fits     func(*turn) bool                                      // the holds that it can be told of
	plant    func(l *ledgered, t *rapid.T, i int) (names []string) // nil: it would be none
}

func isHeld(s *turn) bool { return s.ret < never && !s.refused && s.shape != over }

func hasReleased(o history.Outcome) func(*turn) bool {
	return func(s *turn) bool { return s.released < never && s.outcome == o }
}

var lies = []lie{
	{"a fence that does not grow", checker.Fence, isHeld, (*ledgered).plantFence},
	{"a key that stays", checker.Cleanup, func(s *turn) bool { return s.released < never && s.outcome != history.Declined || s.refused }, (*ledgered).plantOrphan},
	{"a key that is set too late", checker.Cleanup, func(s *turn) bool { return s.released < never || s.refused }, (*ledgered).plantLate},
	{"a grant with nothing left", checker.Contract, isHeld, (*ledgered).plantNothingLeft},
	{"a grant for a TTL that cannot be", checker.Contract, isHeld, (*ledgered).plantTTL},
	{"a release that takes too long", checker.Contract, hasReleased(history.Unknown), (*ledgered).plantSlow},
	{"an extension on one node", checker.Contract, func(s *turn) bool { return len(s.extends) > 0 && s.extends[0].granted && s.extends[0].ret < s.release }, (*ledgered).plantExtension},
	{"an extension by a TTL that cannot be", checker.Contract, func(s *turn) bool { return len(s.extends) == 1 && s.extends[0].granted && s.extends[0].ret < s.release }, (*ledgered).plantExtensionTTL},
	{"a release that says held", checker.Contract, hasReleased(history.Declined), (*ledgered).plantHeld},
	{"a release that says lost", checker.Contract, hasReleased(history.OK), (*ledgered).plantLost},
	{"a key that another client deletes", checker.Contract, func(s *turn) bool { return isHeld(s) && s.leaseEnd() > s.ret+1 }, (*ledgered).plantDeletion},
}

// leaseEnd is when the first window ends.
func (s *turn) leaseEnd() int { return s.leaseWindows()[0].end }

func (l *ledgered) edit(kind history.Kind, i int, change func(*history.Event)) {
	l.edits = append(l.edits, edit{kind, l.turns[i].hold, change})
}

func (l *ledgered) names(i int, more ...any) []string {
	s := &l.turns[i]
	return append([]string{fmt.Sprint("client ", s.client), fmt.Sprintf("token %s)", token(s.hold))}, fmt.Sprint(more...))
}

// plantFence gives a hold the fence, at most, of one that was over before it.
func (l *ledgered) plantFence(t *rapid.T, i int) []string {
	s, highest := &l.turns[i], -1
	for _, j := range l.grants() {
		g := &l.turns[j]
		ended := max(g.ret, g.leaseEnd()) < s.ret
		if g.resource == s.resource && (g.ret < s.call || ended) && g.ret <= s.ret && g.hold != s.hold {
			highest = j
		}
	}
	if highest < 0 {
		return nil
	}
	g := &l.turns[highest]
	l.fences[s.hold] = uint64(rapid.IntRange(1, int(l.fences[g.hold])).Draw(t, "too low"))
	return append(l.names(i, "with the fence ", l.fences[s.hold]), l.names(highest, "with the fence ", l.fences[g.hold])...)
}

func (l *ledgered) plantOrphan(t *rapid.T, i int) []string {
	n := rapid.IntRange(0, keyNodes-1).Draw(t, "node")
	d, s := &l.dealings[i], &l.turns[i]
	d.set[n] = min(d.set[n], s.call)
	if s.outcome == history.OK { // the others have to back what it says
		for m := range keyNodes {
			d.drop(m, history.Deleted, s.client, s.release)
		}
	}
	d.gone[n] = never
	return l.names(i, "node ", n+1, " still kept the key")
}

func (l *ledgered) plantLate(t *rapid.T, i int) []string {
	n := rapid.IntRange(0, keyNodes-1).Draw(t, "node")
	s := &l.turns[i]
	l.dealings[i].set[n], l.dealings[i].gone[n] = s.ended()+1, never
	if s.outcome == history.OK {
		for m := range keyNodes {
			if m != n {
				l.dealings[i].drop(m, history.Deleted, s.client, s.release)
			}
		}
	}
	return l.names(i, "node ", n+1, " still kept the key")
}

func (l *ledgered) plantNothingLeft(t *rapid.T, i int) []string {
	left := -time.Duration(rapid.IntRange(1, 5).Draw(t, "left")) // 0 may have been left out
	l.edit(history.Granted, i, func(e *history.Event) { e.Validity = left })
	if l.turns[i].until >= never {
		return nil
	}
	return l.names(i, "of validity left")
}

func (l *ledgered) plantTTL(t *rapid.T, i int) []string {
	ttl := time.Duration(rapid.IntRange(1, int(time.Millisecond)-1).Draw(t, "ttl"))
	l.edit(history.Acquire, i, func(e *history.Event) { e.TTL = ttl })
	return l.names(i, "cannot be kept")
}

func (l *ledgered) plantExtensionTTL(t *rapid.T, i int) []string {
	ttl := time.Duration(rapid.IntRange(-9, int(time.Millisecond)-1).Filter(func(d int) bool { return d != 0 }).Draw(t, "ttl"))
	l.edit(history.Extended, i, func(e *history.Event) { e.TTL = ttl })
	return l.names(i, "cannot be kept")
}

func (l *ledgered) plantSlow(t *rapid.T, i int) []string {
	s := &l.turns[i]
	s.released = s.release + rapid.IntRange(101, 105).Draw(t, "took")
	return l.names(i, "called release")
}

func (l *ledgered) plantExtension(t *rapid.T, i int) []string {
	n := rapid.IntRange(0, keyNodes-1).Draw(t, "node")
	for m := range keyNodes {
		if m != n || rapid.Bool().Draw(t, "none") {
			l.dealings[i].extended[m] = never
		}
	}
	return l.names(i, "called extend")
}

func (l *ledgered) plantHeld(_ *rapid.T, i int) []string {
	l.turns[i].outcome = history.OK
	return l.names(i, "that it was released")
}

func (l *ledgered) plantLost(t *rapid.T, i int) []string {
	s, d := &l.turns[i], &l.dealings[i]
	s.outcome = history.Declined
	for n := range keyNodes { // the key has to have been there before
		d.set[n] = min(d.set[n], s.release-1)
	}
	return l.names(i, "that it was held no more")
}

func (l *ledgered) plantDeletion(t *rapid.T, i int) []string {
	s, n := &l.turns[i], rapid.IntRange(0, keyNodes-1).Draw(t, "node")
	d := &l.dealings[i]
	at := rapid.IntRange(s.ret+1, s.leaseEnd()-1).Draw(t, "deleted")
	d.drop(n, history.Deleted, 77, at)
	d.extended[n] = never
	if rest := [2]int{(n + 1) % keyNodes, (n + 2) % keyNodes}; s.outcome == history.OK && s.released < never {
		for _, m := range rest {
			d.drop(m, history.Deleted, s.client, s.release)
		}
	}
	for _, e := range s.extends {
		for m := range keyNodes {
			if e.granted && m != n {
				d.extended[m] = e.call
			}
		}
	}
	return l.names(i, "node ", n+1, " deleted the key")
}

// ended is when the hold is given up.
func (s *turn) ended() int {
	if s.refused {
		return s.ret
	}
	return s.released
}

// TestTruthIsBelieved: a history in which clients take turns, report the truth and clean up keeps
// every property that it is about.
func TestTruthIsBelieved(t *testing.T) {
	repeat(t, 3_000, func(t *rapid.T) {
		header, events := drawLedgered(t).write(rapid.Uint64().Draw(t, "order of ties"))
		for _, f := range judge(header, events, checker.Lease, checker.Section, checker.Fence, checker.Cleanup, checker.Contract).Findings {
			if f.Verdict != checker.Holds && f.Verdict != checker.NotApplicable || f.Count != 0 {
				t.Fatalf("a history that is legal by construction, and %v is %v: %s", f.Property, f.Verdict, f.Story())
			}
		}
	})
}

// TestPlantedLieIsNamed: one lie in such a history is one violation, of its property and no other,
// and the finding names its client.
func TestPlantedLieIsNamed(t *testing.T) {
	for _, lie := range lies {
		t.Run(strings.ReplaceAll(lie.name, " ", "-"), func(t *testing.T) {
			planted := 0
			repeat(t, 1_000, func(t *rapid.T) {
				l := drawLedgered(t)
				fit := l.those(lie.fits)
				if len(fit) == 0 {
					t.Skip("nobody to tell it of")
				}
				names := lie.plant(l, t, rapid.SampledFrom(fit).Draw(t, "of"))
				if names == nil {
					t.Skip("it would be none")
				}
				header, events := l.write(rapid.Uint64().Draw(t, "order of ties"))
				lie.isNamedBy(t, judge(header, events, checker.Fence, checker.Cleanup, checker.Contract), names)
				planted++
			})
			if !t.Failed() && planted < 300 {
				t.Errorf("only %d such lies were planted", planted)
			}
		})
	}
}

func (lie lie) isNamedBy(t *rapid.T, report checker.Report, names []string) {
	for _, f := range report.Findings {
		want := 0
		if f.Property == lie.property {
			want = 1
		}
		if f.Count != want {
			t.Fatalf("%s was planted: %v has %d violations, want %d: %s", lie.name, f.Property, f.Count, want, f.Story())
		}
	}
	story := report.Finding(lie.property).Story()
	for _, name := range names {
		if !strings.Contains(story, name) {
			t.Fatalf("%s was planted, and the story does not tell of %q: %s", lie.name, name, story)
		}
	}
}
