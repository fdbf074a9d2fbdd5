package checker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// onFilesClock tells a history of scripts without its lapses: every until is what the times of the
// events show at that instant. Holds that never returned and their extensions are left out, because
// their ends of validity are told by lapses only.
func onFilesClock(h history.Header, events []history.Event, clock history.UntilClock) (history.Header, []history.Event) {
	h.UntilClock = clock
	var told []history.Event
	for _, e := range events {
		if e.Kind == history.Lapse {
			continue
		}
		e.Time++ // see [reading]
		e.Validity = 0
		told = append(told, e)
	}
	return h, told
}

// TestUntilEndsAHoldAsItsLapseDoes: a history whose until is on the clock of the events' times has the
// verdicts of the same history with a lapse event for each until; and a header that names no clock is
// understood so.
func TestUntilEndsAHoldAsItsLapseDoes(t *testing.T) {
	broken, all := 0, 0
	repeat(t, 3_000, func(t *rapid.T) {
		scripts := slices.DeleteFunc(drawScripts(t), func(s script) bool { return s.ret == never && !s.refused })
		for i := range scripts {
			scripts[i].writes = nil // they show grants whose end only a lapse tells
		}
		header, events := write(scripts, rapid.Uint64().Draw(t, "order"))
		fences := rapid.SliceOfN(rapid.Uint64Range(0, 9), len(scripts), len(scripts)).Draw(t, "fences")
		for i, e := range events {
			if e.Kind == history.Granted && len(scripts) > 0 {
				events[i].Fence = fences[i%len(scripts)]
			}
		}
		want := judge(header, events)
		if oracle(events, 1) != (want.Finding(checker.Lease).Verdict == checker.Violated) {
			t.Fatalf("the oracle disagrees on\n%s", listed(events))
		}
		for _, clock := range []history.UntilClock{history.FileClock, ""} {
			header, told := onFilesClock(header, events, clock)
			got := judge(header, told)
			if got.UntilClock != history.FileClock {
				t.Fatalf("judged by the clock %q", got.UntilClock)
			}
			sameFindings(t, want, got, fmt.Sprintf("without lapses, by the clock %q\n%s", clock, listed(told)))
		}
		if all++; want.Finding(checker.Lease).Verdict == checker.Violated {
			broken++
		}
	})
	if !t.Failed() && (broken*20 < all || broken*2 > all) {
		t.Errorf("%d of %d histories break lease exclusion; want between a twentieth and a half", broken, all)
	}
}

const formatPage = "../docs/history-format.md"

// The table of the page says what ends the validity of a hold, for each combination of what a history
// tells of it. Another client is granted the lock after the validity, and the hold is released only
// after that.
func TestEndsOfValidityIsCurrent(t *testing.T) {
	const onClock, foreign = 8, 5_434_859_048_163
	words := map[checker.Verdict]string{checker.Holds: "", checker.Violated: "not before the release", checker.Unknown: "not known"}
	var b strings.Builder
	b.WriteString("| `until` | `validity` | `lapse` | no `until_clock` | `file` | `client` |\n|---|---|---|---|---|---|\n")
	for _, until := range []int64{0, onClock, foreign} {
		for _, validity := range []bool{false, true} {
			for _, lapse := range []bool{false, true} {
				cells := []string{
					map[int64]string{0: "no", onClock: "on the clock of `t`", foreign: "on another clock"}[until], yes(validity), yes(lapse),
				}
				for _, clock := range []history.UntilClock{"", history.FileClock, history.ClientClock} {
					f := afterTheValidity(clock, until, validity, lapse)
					word, known := words[f.Verdict]
					if !known {
						t.Fatalf("%v: %s", f.Verdict, f.Story())
					}
					if f.Verdict == checker.Holds {
						word = "at the `lapse`"
						if !lapse {
							word = "at `until`"
						}
					}
					cells = append(cells, word)
					blamed := clock != "" && until == foreign // by a header that is wrong
					if strings.Contains(f.Story(), "0s of validity") || strings.Contains(f.Story(), "later than its TTL") && !blamed {
						t.Errorf("clock %q, until %d, validity %v, lapse %v: %s", clock, until, validity, lapse, f.Story())
					}
				}
				fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
			}
		}
	}
	page := testkit.Read(t, formatPage)
	testkit.GoldenFile(t, formatPage, replaced(t, page, "ends", b.String()), "Histories without a lapse event are judged otherwise.")
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

func afterTheValidity(clock history.UntilClock, until int64, validity, lapse bool) checker.Finding {
	c := checker.New(history.Header{Nodes: 1, Clients: 2, UntilClock: clock}, checker.Lease)
	granted := history.Event{Time: 2e6, Kind: history.Granted, Client: 1, Token: "a", Until: until * 1e6}
	if validity {
		granted.Validity = 6e6
	}
	for _, e := range []history.Event{
		{Time: 0, Kind: history.Acquire, Client: 1, Token: "a", TTL: 7e6},
		granted,
		{Time: 8e6, Kind: history.Lapse, Client: 1, Token: "a", Until: granted.Until},
		{Time: 85e5, Kind: history.Acquire, Client: 2, Token: "b"},
		{Time: 9e6, Kind: history.Granted, Client: 2, Token: "b"},
		{Time: 20e6, Kind: history.Release, Client: 1, Token: "a"},
		{Time: 21e6, Kind: history.End},
	} {
		if e.Resource = "r"; e.Kind != history.Lapse || lapse {
			c.Record(&e)
		}
	}
	return c.Finish().Finding(checker.Lease)
}
