package checker_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/model"
)

// visit is one section of a random history of the guarded resource.
type visit struct {
	client    int
	call, ret int
	blind     bool // there is no read
	read      int64
	wrote     int64
	outcome   history.Outcome
	killed    bool // the client dies instead of hearing of the write
	recorded  bool // that the write was applied
	applied   int  // when it was
}

// writeAt is when the write is called.
func (v visit) writeAt() int {
	if v.blind {
		return v.call
	}
	return v.call + 2
}

// accepted reports whether the write was accepted, and until when the section lasts then.
func (v visit) accepted() (until int, is bool) {
	switch {
	case v.outcome == history.OK:
		return v.ret, true
	case v.outcome == history.Unknown && v.recorded:
		return v.applied, true
	}
	return 0, false
}

// mixture is what the sections of a random history are like.
type mixture struct {
	most    int   // sections: the more may overlap, the longer porcupine takes
	values  int64 // that are written
	blind   int   // 1 in so many sections has no read; 0: none
	misread int   // 1 in so many sections reads another value than it should
	gaps    []int // from the last return to the next call
	writes  []history.Outcome
}

// mixtures are histories that come to rest now and then, that hardly do, in
// which most writes are unknown, and in which every section has read.
var mixtures = []mixture{
	{40, 7, 8, 20, []int{1, 1, 1, 1, 0, -1, -3}, []history.Outcome{history.OK, history.OK, history.OK, history.OK, history.OK, history.Unknown, history.Declined}},
	{16, 4, 4, 30, []int{1, 0, -1, -2, -4}, []history.Outcome{history.OK, history.OK, history.OK, history.Unknown, history.Declined}},
	{14, 5, 6, 10, []int{1, 1, 1, 0, -1}, []history.Outcome{history.OK, history.Unknown}},
	{24, 5, 0, 20, []int{1, 1, 0, -1, -3}, []history.Outcome{history.OK, history.OK, history.OK, history.OK, history.Unknown}},
}

// drawVisits draws sections most of which follow one another, so that there are quiescent points,
// and some of which overlap. Most read a possible value of the resource.
func drawVisits(t *rapid.T) []visit {
	m := rapid.SampledFrom(mixtures).Draw(t, "mixture")
	visits := make([]visit, rapid.IntRange(m.most/4, m.most).Draw(t, "sections"))
	recorded := rapid.Bool().Draw(t, "applies are recorded")
	value, now := int64(0), 0
	for i := range visits {
		v := &visits[i]
		v.client, v.read, v.wrote = i+1, value, rapid.Int64Range(0, m.values-1).Draw(t, "wrote")
		v.blind = m.blind > 0 && rapid.IntRange(1, m.blind).Draw(t, "blind") == m.blind
		v.outcome = rapid.SampledFrom(m.writes).Draw(t, "outcome")
		v.killed = v.outcome == history.Unknown && rapid.Bool().Draw(t, "killed")
		v.call = max(0, now+rapid.SampledFrom(m.gaps).Draw(t, "gap"))
		v.ret = v.call + 3*rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, "took")
		now = max(now, v.ret)
		if rapid.IntRange(1, m.misread).Draw(t, "misread") == m.misread {
			v.read++
		}
		if v.outcome == history.OK || v.outcome == history.Unknown && rapid.Bool().Draw(t, "took effect") {
			value = v.wrote
			if recorded {
				v.drawApplied(t)
			}
		}
	}
	return visits
}

// drawApplied draws when the write is applied. Of an unknown one that may be long after.
func (v *visit) drawApplied(t *rapid.T) {
	v.recorded, v.applied = true, rapid.IntRange(v.writeAt(), v.ret).Draw(t, "applied")
	if isUnknown(*v) {
		v.applied += rapid.SampledFrom([]int{0, 0, 3, 10, 40}).Draw(t, "late")
	}
}

func visitEvents(visits []visit) []history.Event {
	var events []history.Event
	for i, v := range visits {
		e := history.Event{Client: v.client, Resource: "r", Token: fmt.Sprint("token", i), Outcome: history.OK}
		add := func(at int, k history.Kind, value int64) {
			e.Time, e.Kind, e.Value = history.Time(at), k, value
			events = append(events, e)
		}
		if v.blind {
			add(v.call, history.Write, v.wrote)
		} else {
			add(v.call, history.Read, 0)
			add(v.call+1, history.ReadDone, v.read)
			add(v.call+2, history.Write, v.wrote)
		}
		e.Outcome = 0
		if v.recorded {
			add(v.applied, history.Apply, v.wrote)
		}
		e.Outcome = v.outcome
		if v.killed {
			add(v.ret, history.Kill, 0)
		} else {
			add(v.ret, history.WriteDone, v.wrote)
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	return append(events, history.Event{Time: 1 << 30, Kind: history.End})
}

func visitOperations(visits []visit) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, v := range visits {
		if v.outcome == history.Declined {
			continue
		}
		until, accepted := v.accepted()
		if !accepted {
			until = 1 << 30
		}
		op := porcupine.Operation{
			Input:  model.SectionInput{Resource: "r", Blind: v.blind, Read: v.read, Wrote: v.wrote},
			Output: model.SectionOutput{Unknown: !accepted},
			Call:   int64(v.call), Return: int64(until),
		}
		ops = append(ops, op)
	}
	return ops
}

func isUnknown(v visit) bool { return v.outcome == history.Unknown }

// judgeEffect returns the finding for segments with at least and at most that many sections.
func judgeEffect(visits []visit, least, most int) checker.Finding {
	return judgeEffectOf(visitEvents(visits), len(visits), least, most)
}

func judgeEffectOf(events []history.Event, clients, least, most int) checker.Finding {
	panel := checker.New(history.Header{Nodes: 5, Clients: clients}, checker.Effect)
	panel.SetSegments(least, most)
	for i := range events {
		panel.Record(&events[i])
	}
	return panel.Finish().Findings[0]
}

const unlimited = 1 << 30

func hasOrder(visits []visit) bool {
	return porcupine.CheckOperations(model.GuardedRegister.ToModel(), visitOperations(visits))
}

// agree compares a judge with one search of porcupine over the whole history: neither "holds" nor "violated" may be
// wrong. It wants at least and at most so many histories of a hundred left undecided.
func agree(t *testing.T, least, most int, judge func(t *rapid.T, visits []visit) checker.Finding) {
	all, legals, undecided := 0, 0, 0
	repeat(t, *histories/5, func(t *rapid.T) {
		visits := drawVisits(t)
		f, legal := judge(t, visits), hasOrder(visits)
		if f.Verdict == checker.Holds && !legal || f.Verdict == checker.Violated && legal {
			t.Fatalf("%v (%s), but porcupine finds legal = %v in %+v", f.Verdict, f.Story(), legal, visits)
		}
		all++
		if legal {
			legals++
		}
		if f.Verdict == checker.Unknown {
			undecided++
		}
	})
	if !t.Failed() && (legals*5 < all || legals*5 > 4*all || undecided*100 < least*all || undecided*100 > most*all) {
		t.Errorf("of %d histories %d are legal and %d undecided: want a fifth to four fifths, and %d to %d of a hundred", all, legals, undecided, least, most)
	}
}

// Law: judging segment by segment agrees with one search over the whole history, wherever segments are
// cut.
func TestCutsAgreeWithPorcupine(t *testing.T) {
	agree(t, 0, 1, func(t *rapid.T, visits []visit) checker.Finding {
		return judgeEffect(visits, rapid.SampledFrom([]int{1, 2, 8, unlimited}).Draw(t, "least"), unlimited)
	})
}

// Law: sections left out because too many overlap make neither "holds" nor "violated" wrong.
func TestWhatIsLeftOutRefutesNothing(t *testing.T) {
	agree(t, 5, 100, func(t *rapid.T, visits []visit) checker.Finding {
		return judgeEffect(visits, rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "least"), rapid.IntRange(2, 6).Draw(t, "most"))
	})
}

// Law: a segment that is cut although a write may still be applied makes neither "holds" nor
// "violated" wrong. If the write is applied after that, the verdict is unknown.
func TestApplyThatComesTooLateRefutesNothing(t *testing.T) {
	agree(t, 2, 100, func(t *rapid.T, visits []visit) checker.Finding {
		panel := checker.New(history.Header{Nodes: 5, Clients: len(visits)}, checker.Effect)
		panel.SetSegments(1, unlimited)
		panel.SetWait(rapid.IntRange(0, 3).Draw(t, "wait"))
		for _, e := range visitEvents(visits) {
			panel.Record(&e)
		}
		return panel.Finish().Findings[0]
	})
}

// Law: resources do not mix: two histories side by side are judged as each is.
func TestResourcesAreJudgedApart(t *testing.T) {
	repeat(t, *histories/25, func(t *rapid.T) {
		a, b := drawVisits(t), drawVisits(t)
		events := visitEvents(a)
		for _, e := range visitEvents(b) {
			if e.Client > 0 {
				e.Client += len(a)
				e.Resource = "s"
				events = append(events, e)
			}
		}
		slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
		both := judgeEffectOf(events, len(a)+len(b), 1, unlimited)
		if n := judgeEffect(a, 1, unlimited).Count + judgeEffect(b, 1, unlimited).Count; both.Count != n {
			t.Fatalf("%d violations apart, %d side by side (%s)", n, both.Count, both.Story())
		}
	})
}

// TestManyOverlapsAreBounded: sections that overlap without end are given up,
// and a lost update among them is still found.
func TestManyOverlapsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("0 read c1 X\n1 read-done c1 X value=0\n")
	for i := range 10_001 {
		fmt.Fprintf(&b, "%d read c2 T%d\n%d read-done c2 T%d value=%d\n", i+2, i, i+2, i, i)
		fmt.Fprintf(&b, "%d write c2 T%d value=%d\n%d write-done c2 T%d value=%d\n", i+2, i, i+1, i+2, i, i+1)
	}
	for _, c := range []struct {
		more string
		want checker.Verdict
	}{
		{"", checker.Unknown},
		{"3 read c3 Y\n3 read-done c3 Y value=0\n3 write c3 Y value=9\n3 write-done c3 Y value=9\n", checker.Violated},
	} {
		header, events, err := historytest.Parse(b.String() + c.more + "30000 end\n")
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
		if f := judge(header, events).Finding(checker.Effect); f.Verdict != c.want {
			t.Errorf("%v (%s), want %v", f.Verdict, f.Story(), c.want)
		}
	}
}

// after returns visits that begin once others are over, and by how much their
// times are later.
func after(first, then []visit) []visit {
	last := 0
	for _, v := range first {
		last = max(last, v.ret)
	}
	all := slices.Clone(first)
	for _, v := range then {
		v.client, v.call, v.ret = len(all)+1, v.call+last+1, v.ret+last+1 // no apply is recorded
		all = append(all, v)
	}
	return all
}

// increments is n sections one after another from a value on.
func increments(from int64, n int) []visit {
	visits := make([]visit, n)
	for i := range visits {
		v := &visits[i]
		v.read, v.wrote, v.outcome = from+int64(i), from+int64(i)+1, history.OK
		v.call, v.ret = 10*i, 10*i+5
	}
	return visits
}

// puzzle returns sections without an order: two of them change the value and change it back, and no
// other does. A search goes through all sets of the others before it knows. A section without
// overlap follows.
func puzzle() []visit {
	overlapping := visit{call: 0, ret: 100, outcome: history.OK}
	var visits []visit
	for i := range int64(14) {
		put, take := overlapping, overlapping
		put.blind, put.wrote = true, 1000
		take.read, take.wrote = 1000, 2000+i
		visits = append(visits, put, take)
	}
	there, back := overlapping, overlapping
	there.read, there.wrote = 3000, 3001
	back.read, back.wrote = 3001, 3000
	return append(visits, there, back, visit{call: 101, ret: 110, blind: true, outcome: history.OK})
}

// TestSearchIsGivenUp: what takes too long is unknown, the story says how far the
// judge came, and what comes later is judged all the same.
func TestSearchIsGivenUp(t *testing.T) {
	long := after(after(increments(0, 8), puzzle()), increments(0, 16))
	for _, c := range []struct {
		name   string
		visits []visit
		want   checker.Verdict
		told   []string
	}{
		{"then nothing", long, checker.Unknown, []string{`"r" is undecided from 76ns on`, "31 sections takes more than 10ms", "decided are the 8 accepted ones before", "in all 24 of 55 accepted sections are as if one after another"}},
		{"then a lost update", after(long, increments(3, 8)), checker.Violated, []string{"client 56 (token token55) read 3"}},
	} {
		panel := checker.New(history.Header{Nodes: 5, Clients: len(c.visits)}, checker.Effect)
		panel.SetSearchLimit(10 * time.Millisecond)
		for _, e := range visitEvents(c.visits) {
			panel.Record(&e)
		}
		f := panel.Finish().Findings[0]
		if f.Verdict != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, f.Verdict, f.Story(), c.want)
		}
		for _, text := range c.told {
			if !strings.Contains(f.Story(), text) {
				t.Errorf("%s: the story does not say %q: %s", c.name, text, f.Story())
			}
		}
	}
}

// TestManyUnknownWritesAreDecided: a thousand unknown writes leave nothing
// undecided, whether they overlap others or not, and hide no lost update.
func TestManyUnknownWritesAreDecided(t *testing.T) {
	for _, c := range []struct{ overlap, burst int }{{1, 1}, {4, 16}} {
		visits := oftenUnknown(c.overlap, c.burst)
		if f := judgeEffectOf(visitEvents(visits), 10, 8, unlimited); f.Verdict != checker.Holds {
			t.Errorf("%d at a time: %v (%s)", c.overlap, f.Verdict, f.Story())
		}
		at := 6_000
		for visits[at].outcome != history.OK || slices.ContainsFunc(visits[at-8:at], isUnknown) {
			at++
		}
		visits[at].read--
		if f := judgeEffectOf(visitEvents(visits), 10, 8, unlimited); f.Verdict != checker.Violated {
			t.Errorf("%d at a time: %v (%s) with an update lost", c.overlap, f.Verdict, f.Story())
		}
	}
}

// oftenUnknown returns 12,000 sections, of which one write in ten has no answer, about so many in progress
// at a time, with so many between two quiescent points. They are legal by construction: each takes effect
// at a point of its own.
func oftenUnknown(overlap, burst int) []visit {
	random := rand.New(rand.NewPCG(1, uint64(overlap)))
	visits := make([]visit, 12_000)
	value, from := int64(0), 0
	for i := range visits {
		if i%burst == 0 {
			from = 100*i + 10
		}
		point, spread := 100*i+50, 100*overlap/2-40
		v := visit{client: i%10 + 1, read: value, wrote: value + 1, outcome: history.OK}
		v.call = max(from, point-1-random.IntN(spread)-8)
		v.ret = min(from+100*burst-20, point+1+random.IntN(spread)+8)
		if random.IntN(10) == 0 {
			v.outcome = history.Unknown
		}
		if v.outcome == history.OK || random.IntN(2) == 0 {
			value = v.wrote
		}
		visits[i] = v
	}
	return visits
}
