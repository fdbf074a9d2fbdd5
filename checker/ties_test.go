package checker_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// Law: every history of testdata has the same verdicts in any order of simultaneous events.
func TestOrderOfTiesInGoldensDoesNotMatter(t *testing.T) {
	flat, _ := filepath.Glob("testdata/*.txt")
	deep, _ := filepath.Glob("testdata/*/*.txt")
	for _, file := range append(flat, deep...) {
		if filepath.Base(file) == "contradiction.txt" {
			continue
		}
		text := testkit.Read(t, file)
		for _, part := range strings.Split(text, "\n== ")[1:] {
			name, rest, _ := strings.Cut(part, "\n")
			told, _, _ := strings.Cut(rest, "--\n")
			header, events, err := historytest.Parse(told)
			if err != nil {
				t.Fatal(err)
			}
			if !callsAgain(events) {
				sameInAnyOrder(t, file+", "+name, header, events)
			}
		}
	}
}

func sameInAnyOrder(t *testing.T, name string, header history.Header, events []history.Event) {
	t.Helper()
	was := judge(header, events)
	for seed := range uint64(16) {
		again := shuffleTies(events, seed)
		is := judge(header, again)
		for _, p := range checker.Properties() {
			if f, g := was.Finding(p), is.Finding(p); f.Verdict != g.Verdict || f.Count != g.Count {
				t.Errorf("%s: %v: %v, %d violations (%s), in another order %v, %d (%s)\n%s", name, p, f.Verdict, f.Count, f.Story(), g.Verdict, g.Count, g.Story(), historytest.Text(header, again))
				return
			}
		}
	}
}

// Law: effect exclusion is the same in any order of simultaneous events, wherever segments are cut.
func TestOrderOfTiesInSectionsDoesNotMatter(t *testing.T) {
	repeat(t, *histories/5, func(t *rapid.T) {
		visits := drawVisits(t)
		least, most := rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "least"), rapid.SampledFrom([]int{3, unlimited}).Draw(t, "most")
		scale := history.Time(rapid.IntRange(1, 4).Draw(t, "scale"))
		events := visitEvents(visits)
		for i := range events {
			events[i].Time = (events[i].Time + scale - 1) / scale
		}
		for i, v := range visits {
			e := history.Event{Kind: history.Acquire, Client: v.client, Resource: "r", Token: fmt.Sprint("token", i)}
			granted := e
			granted.Kind = history.Granted
			events = append(events, e, granted)
		}
		a := judgeEffectOf(shuffleTies(events, 1), len(visits), least, most)
		b := judgeEffectOf(shuffleTies(events, rapid.Uint64().Draw(t, "another order")), len(visits), least, most)
		if a.Verdict != b.Verdict || a.Count != b.Count {
			t.Fatalf("%v, %d violations (%s), in another order %v, %d (%s)", a.Verdict, a.Count, a.Story(), b.Verdict, b.Count, b.Story())
		}
	})
}

// callsAgain reports whether a client makes a call in the instant in which one of the same kind has
// returned. The order of the two counts: see [timeline.Timeline.Record].
func callsAgain(events []history.Event) bool {
	calls := map[history.Kind]history.Kind{
		history.Extended: history.Extend, history.ExtendFailed: history.Extend, history.Checked: history.Check,
	}
	type call struct {
		at     history.Time
		kind   history.Kind
		client int
		token  string
	}
	returned := map[call]bool{}
	for _, e := range events {
		if returned[call{e.Time, e.Kind, e.Client, e.Token}] {
			return true
		}
		if kind, returns := calls[e.Kind]; returns {
			returned[call{e.Time, kind, e.Client, e.Token}] = true
		}
	}
	return false
}

// A segment of the most sections ends while a write of unknown outcome is applied: whichever of the two is
// told first, it is given up once, so that what follows is judged from the same value.
func TestSegmentIsGivenUpOnceInAnInstant(t *testing.T) {
	visits := []visit{
		{client: 1, call: 0, ret: 4, outcome: history.Unknown}, // may be applied later
		{client: 2, call: 10, applied: 13, ret: 13, recorded: true, outcome: history.OK},
		{client: 3, call: 20, applied: 23, ret: 23, recorded: true, outcome: history.OK},
		{client: 4, call: 30, applied: 33, ret: 33, recorded: true, outcome: history.Unknown},
		{client: 5, call: 40, applied: 43, ret: 43, recorded: true, outcome: history.OK, read: 1}, // nobody wrote 1
	}
	events := visitEvents(visits)
	other := slices.Clone(events)
	for i := range other[1:] {
		if a, b := &other[i], &other[i+1]; a.Time == 33 && a.Kind == history.Apply && b.Time == 33 {
			*a, *b = *b, *a
		}
	}
	for _, events := range [][]history.Event{events, other} {
		if f := judgeEffectOf(events, len(visits), 8, 3); f.Verdict != checker.Violated {
			t.Errorf("%v: %s", f.Verdict, f.Story())
		}
	}
}
