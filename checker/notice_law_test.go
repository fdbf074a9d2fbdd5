package checker_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// holder is one hold without an extension, with the notifications and actions of its client. The
// time never means none; pauses are pairs of instants.
type holder struct {
	sent, granted, lapse, told, release, killed int
	warned                                      bool // told that it is about to end, and else of the loss
	pauses                                      [][2]int
	check                                       int
}

const (
	noticeTTL   = 6
	noticeBound = 2
	noticeEnd   = 30
)

func inMs(at int) history.Time { return history.Time(at) * history.Time(time.Millisecond) }

func drawHolder(t *rapid.T) holder {
	h := holder{sent: rapid.IntRange(0, 3).Draw(t, "sent"), killed: never, check: never}
	h.granted = h.sent + rapid.IntRange(0, 8).Draw(t, "took")
	last := h.granted
	for range rapid.IntRange(0, 2).Draw(t, "pauses") {
		from := last + rapid.IntRange(1, 5).Draw(t, "from")
		last = from + rapid.IntRange(1, 8).Draw(t, "length")
		h.pauses = append(h.pauses, [2]int{from, last})
	}
	some := func(label string) int {
		at := h.granted + rapid.IntRange(0, 16).Draw(t, label)
		if rapid.IntRange(0, 3).Draw(t, label+"?") == 0 || h.stands(at) {
			return never
		}
		return at
	}
	h.told, h.release, h.killed, h.check = some("told"), some("release"), some("killed"), some("check")
	h.warned = rapid.Bool().Draw(t, "warned")
	h.lapse = h.granted + rapid.IntRange(0, 16).Draw(t, "lapse")
	for _, at := range []*int{&h.told, &h.release, &h.check} {
		if *at >= h.killed {
			*at = never
		}
	}
	if h.told >= h.release {
		h.told = never
	}
	if h.check >= min(h.release, h.told) {
		h.check = never
	}
	h.pauses = slices.DeleteFunc(h.pauses, func(p [2]int) bool { return p[1] >= h.killed })
	return h
}

// stands reports whether the client stands still at an instant, or all but goes on.
func (h *holder) stands(at int) bool {
	return slices.ContainsFunc(h.pauses, func(p [2]int) bool { return p[0] <= at && at < p[1] })
}

func (h *holder) events() []history.Event {
	var events []history.Event
	add := func(at int, e history.Event) {
		if at < never {
			e.Time, e.Client, e.Resource, e.Token = inMs(at), 1, "r", "A"
			events = append(events, e)
		}
	}
	add(0, history.Event{Kind: history.Acquire, TTL: noticeTTL * time.Millisecond})
	add(h.sent, history.Event{Kind: history.Step, Name: history.BeforeSend})
	add(h.granted, history.Event{Kind: history.Granted, TTL: noticeTTL * time.Millisecond, Until: 1000, Validity: 1})
	add(h.lapse, history.Event{Kind: history.Lapse, Until: 1000})
	if h.warned {
		add(h.told, history.Event{Kind: history.Expiring})
	} else {
		add(h.told, history.Event{Kind: history.Lost})
	}
	add(h.check, history.Event{Kind: history.Check})
	add(h.check, history.Event{Kind: history.Checked, Outcome: history.OK})
	add(h.release, history.Event{Kind: history.Release})
	for _, p := range h.pauses {
		events = append(events, history.Event{Time: inMs(p[0]), Kind: history.Pause, Client: 1}, history.Event{Time: inMs(p[1]), Kind: history.Resume, Client: 1})
	}
	if h.killed < never {
		events = append(events, history.Event{Time: inMs(h.killed), Kind: history.Kill, Client: 1})
	}
	return events
}

// late says by counting instants whether the holder learned too late. It owes nobody
// anything in an instant in which it does not run.
func (h *holder) late() bool {
	end := h.sent + noticeTTL
	untold, behind := 0, 0
	for at := max(end, h.granted); at < noticeEnd; at++ {
		if h.stands(at) || at >= h.killed {
			untold, behind = 0, 0
			continue
		}
		if at < min(h.told, h.release) {
			untold++
		} else {
			untold = 0
		}
		gone := h.release
		if !h.warned {
			gone = min(gone, h.told)
		}
		if at < min(h.lapse, gone) {
			behind++
		} else {
			behind = 0
		}
		if untold > noticeBound || behind > noticeBound && h.comes(at) {
			return true
		}
	}
	return h.check < never && h.check > end
}

// comes reports whether the lapse comes in the same stretch of running as an instant. What was
// missing when the holder released, paused or died does not count.
func (h *holder) comes(at int) bool {
	gone := min(h.release, h.killed)
	if !h.warned {
		gone = min(gone, h.told)
	}
	for ; at < h.lapse; at++ {
		if h.stands(at+1) && at+1 != h.lapse {
			return false
		}
	}
	return h.lapse <= gone
}

// Law: a count of instants finds the holders that learn too late, in any order of simultaneous
// events.
func TestNoticeIsCounted(t *testing.T) {
	late, calm := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawHolder(t)
		events := shuffleTies(h.events(), rapid.Uint64().Draw(t, "order"))
		events = append(events, history.Event{Time: inMs(noticeEnd), Kind: history.End})
		header := history.Header{Nodes: 1, Clients: 1, LongestTTL: noticeTTL * time.Millisecond, Bounds: history.Bounds{Notice: noticeBound * time.Millisecond}}
		want := checker.Holds
		if h.late() {
			want = checker.Violated
			late++
		} else {
			calm++
		}
		got := judge(header, events, checker.Contract).Findings[0]
		if got.Verdict != want && !(want == checker.Holds && got.Verdict == checker.NotApplicable) {
			t.Fatalf("%+v: %v, want %v: %s\n%v", h, got.Verdict, want, got.Story(), events)
		}
	})
	if late == 0 || calm == 0 {
		t.Errorf("%d late and %d in time: want some of both", late, calm)
	}
}
