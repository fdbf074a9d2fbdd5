package checker_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/model"
)

// visit is one section of a random history of the guarded resource.
type visit struct {
	client    int
	call, ret int
	read      int64
	wrote     int64
	outcome   history.Outcome
	killed    bool // the client dies instead of hearing of the write
}

// drawVisits draws sections of which most follow one another, so that there
// are quiescent points, and some overlap. What they read is mostly a value
// that the resource may have then.
func drawVisits(t *rapid.T) []visit {
	visits := make([]visit, rapid.IntRange(1, 40).Draw(t, "sections"))
	value, now := int64(0), 0
	for i := range visits {
		v := &visits[i]
		v.client, v.read, v.wrote = i+1, value, int64(rapid.IntRange(0, 6).Draw(t, "wrote"))
		v.outcome = rapid.SampledFrom([]history.Outcome{history.OK, history.OK, history.OK, history.OK, history.OK, history.Unknown, history.Declined}).Draw(t, "outcome")
		v.killed = v.outcome == history.Unknown && rapid.Bool().Draw(t, "killed")
		v.call = max(0, now+rapid.SampledFrom([]int{1, 1, 1, 1, 0, -1, -3}).Draw(t, "gap"))
		v.ret = v.call + 3*rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, "took")
		now = max(now, v.ret)
		if rapid.IntRange(0, 30).Draw(t, "misread") == 30 {
			v.read++
		}
		if v.outcome == history.OK || v.outcome == history.Unknown && rapid.Bool().Draw(t, "took effect") {
			value = v.wrote
		}
	}
	return visits
}

func visitEvents(visits []visit) []history.Event {
	var events []history.Event
	for _, v := range visits {
		e := history.Event{Client: v.client, Resource: "r", Token: fmt.Sprint("token", v.client), Outcome: history.OK}
		add := func(at int, k history.Kind, value int64) {
			e.Time, e.Kind, e.Value = history.Time(at), k, value
			events = append(events, e)
		}
		add(v.call, history.Read, 0)
		add(v.call+1, history.ReadDone, v.read)
		add(v.call+2, history.Write, v.wrote)
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
		op := porcupine.Operation{
			Input:  model.SectionInput{Resource: "r", Read: v.read, Wrote: v.wrote},
			Output: model.SectionOutput{Unknown: v.outcome == history.Unknown},
			Call:   int64(v.call), Return: int64(v.ret),
		}
		if v.outcome == history.Unknown {
			op.Return = 1 << 30
		}
		ops = append(ops, op)
	}
	return ops
}

// TestCutsAgreeWithPorcupine: judging segment by segment agrees with one search
// over the whole history.
func TestCutsAgreeWithPorcupine(t *testing.T) {
	illegal, all := 0, 0
	register := model.GuardedRegister.ToModel()
	repeat(t, 5_000, func(t *rapid.T) {
		visits := drawVisits(t)
		unknown := 0
		for _, v := range visits {
			if v.outcome == history.Unknown {
				unknown++
			}
		}
		if unknown > 8 {
			t.Skip("the judge tries out no more than 10 unknown writes")
		}
		f := judge(history.Header{Nodes: 5, Clients: len(visits)}, visitEvents(visits)).Finding(checker.Effect)
		legal := porcupine.CheckOperations(register, visitOperations(visits))
		if (f.Verdict == checker.Holds) != legal {
			t.Fatalf("%v (%s), but porcupine finds legal = %v in %+v", f.Verdict, f.Story, legal, visits)
		}
		all++
		if !legal {
			illegal++
		}
	})
	t.Logf("%d of %d histories are illegal", illegal, all)
	if !t.Failed() && (illegal*10 < all || (all-illegal)*10 < all) {
		t.Error("want at least a tenth of either")
	}
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
		header, events, err := parseHistory(b.String() + c.more + "30000 end\n")
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
		if f := judge(header, events).Finding(checker.Effect); f.Verdict != c.want {
			t.Errorf("%v (%s), want %v", f.Verdict, f.Story, c.want)
		}
	}
}
