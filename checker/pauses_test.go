package checker_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// pause is a time for which a client stands still. One without an end lasts until its
// client's death.
type pause struct {
	client, from, to int
}

// drawPauses draws pauses of the clients of a history, many of which begin before an end of
// validity and last beyond it. No window changes by any.
func drawPauses(t *rapid.T, scripts []script) []pause {
	var pauses []pause
	last := map[int]int{} // by client: the end of its last pause
	for i := range scripts {
		s := &scripts[i]
		if rapid.IntRange(0, 2).Draw(t, "pauses?") == 0 {
			continue
		}
		near := rapid.SampledFrom([]int{s.call, s.until, s.until, s.until}).Draw(t, "pauses near")
		if near >= never {
			near = s.call
		}
		p := pause{client: s.client, from: max(0, near-rapid.IntRange(0, 3).Draw(t, "paused before"))}
		if p.to = near + rapid.IntRange(0, 6).Draw(t, "resumed after"); p.to > s.killed {
			p.to = never
		}
		if before, is := last[s.client]; is && p.from <= before || p.from > s.killed {
			continue
		}
		last[s.client] = p.to
		pauses = append(pauses, p)
	}
	return pauses
}

func pauseEvents(pauses []pause) []history.Event {
	var events []history.Event
	for _, p := range pauses {
		events = append(events, history.Event{Time: history.Time(p.from), Kind: history.Pause, Client: p.client})
		if p.to < never {
			events = append(events, history.Event{Time: history.Time(p.to), Kind: history.Resume, Client: p.client})
		}
	}
	return events
}

// during returns the pause in which its client stands still when the event comes.
func during(pauses []pause, e *history.Event) (pause, bool) {
	i := slices.IndexFunc(pauses, func(p pause) bool {
		return p.client == e.Client && p.from <= int(e.Time) && int(e.Time) < p.to && p.to < never
	})
	if i < 0 {
		return pause{}, false
	}
	return pauses[i], true
}

// pausesSeen counts the histories in which pauses are where they could mislead a judge.
type pausesSeen map[string]int

func (seen pausesSeen) add(pauses []pause, events []history.Event) {
	has := map[string]bool{"": true}
	for i := range events {
		for _, p := range pauses {
			e := &events[i]
			if at := int(e.Time); p.client == e.Client && e.Kind == history.Lapse {
				has["a lapse within a pause"] = has["a lapse within a pause"] || p.from < at && at < p.to
				has["a lapse at the start of a pause"] = has["a lapse at the start of a pause"] || p.from == at
				has["a lapse at the end of a pause"] = has["a lapse at the end of a pause"] || p.to == at
			}
		}
	}
	for what, is := range has {
		if is {
			seen[what]++
		}
	}
}

// check fails if something is rarer than in one history of twenty.
func (seen pausesSeen) check(t *testing.T) {
	for _, what := range []string{"a lapse within a pause", "a lapse at the start of a pause", "a lapse at the end of a pause"} {
		if seen[what]*20 < seen[""] {
			t.Errorf("%d of %d histories have this: %q; want one in twenty", seen[what], seen[""], what)
		}
	}
	t.Log(map[string]int(seen))
}

// retold is a history as a judge with a defect takes it.
type retold func([]pause, []history.Event) []history.Event

// pauseDefects are wrong checkers for which a window ends when its client is paused, or when it
// resumes: the real checker with a changed history.
var pauseDefects = map[string]retold{
	"the window ends at the resume": lapsesAtResume,
	"the window ends at the pause":  lossesAtPause,
}

func lapsesAtResume(pauses []pause, events []history.Event) []history.Event {
	events = slices.Clone(events)
	for i := range events {
		if e := &events[i]; e.Kind == history.Lapse {
			if p, is := during(pauses, e); is {
				e.Time = history.Time(p.to)
			}
		}
	}
	return inOrder(events)
}

func lossesAtPause(pauses []pause, events []history.Event) []history.Event {
	told := slices.Clone(events)
	for i := range events {
		for _, p := range pauses {
			if e := &events[i]; e.Kind == history.Granted && e.Client == p.client && int(e.Time) <= p.from {
				told = append(told, history.Event{
					Time: history.Time(p.from), Kind: history.Lost, Client: e.Client, Resource: e.Resource, Token: e.Token,
				})
			}
		}
	}
	return inOrder(told)
}

func inOrder(events []history.Event) []history.Event {
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	return events
}

// TestLawsRejectJudgesThatHeedPauses: no checker for which a window ends at the start or end of a
// pause passes the comparison with the sweep and porcupine, or with planted overlaps.
func TestLawsRejectJudgesThatHeedPauses(t *testing.T) {
	for defect, tell := range pauseDefects {
		for law, compare := range map[string]func(*rapid.T, retold) error{
			"sweep and porcupine": sweepThrough,
			"planted overlap":     overlapThrough,
			"interruption":        interruptionThrough,
		} {
			t.Run(law+"/"+defect, func(t *testing.T) {
				var caught error
				repeat(t, 5_000, func(t *rapid.T) {
					if caught == nil {
						caught = compare(t, tell)
					}
				})
				if caught == nil {
					t.Error("no history shows the defect")
				}
			})
		}
	}
}

func sweepThrough(t *rapid.T, tell retold) error {
	scripts := drawScripts(t)
	pauses := drawPauses(t, scripts)
	header, events := write(scripts, rapid.Uint64().Draw(t, "order of ties"), pauseEvents(pauses)...)
	return disagreement(scripts, judge(header, tell(pauses, events), checker.Lease, checker.Section))
}

func overlapThrough(t *rapid.T, tell retold) error {
	turns := drawTurns(t)
	p, ok := drawPlant(t, turns, (*script).leaseWindows)
	return p.through(t, turns, ok, tell)
}

func interruptionThrough(t *rapid.T, tell retold) error {
	turns := drawTurns(t)
	p, ok := drawInterruption(t, turns)
	return p.through(t, turns, ok, tell)
}

func (p plant) through(t *rapid.T, turns []turn, ok bool, tell retold) error {
	if !ok {
		return nil
	}
	header, events, pauses := p.write(t, turns)
	return p.isNotNamedBy(judge(header, tell(pauses, events), checker.Lease).Finding(checker.Lease))
}
