package checker_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
)

// updaters are clients that update a resource which checks nothing, each under its token.
type updaters struct {
	t       *rapid.T
	guard   *guard.Guard
	pending []arrival
	tokens  int
	events  []history.Event
}

// arrival is an access that is on its way.
type arrival struct {
	at    int
	serve func(now int)
}

// updater is one client.
type updater struct {
	*updaters
	client int
	token  string
	grants int // under the token
	rounds int // left
}

// drawUpdates lets clients update a resource and records every apply. Writes may arrive late, be
// lost, or have an unknown outcome; clients may die, ask for their token again, release before
// their write has returned, and go on after all of that.
func drawUpdates(t *rapid.T) (history.Header, []history.Event) {
	u := &updaters{t: t, guard: guard.New(guard.Plain)}
	clients := rapid.IntRange(2, 5).Draw(t, "clients")
	for i := range clients {
		c := &updater{updaters: u, client: i + 1, rounds: rapid.IntRange(1, 4).Draw(t, "rounds")}
		c.begin(rapid.IntRange(1, 20).Draw(t, "begins"))
	}
	for len(u.pending) > 0 {
		slices.SortStableFunc(u.pending, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
		next := u.pending[0]
		u.pending = u.pending[1:]
		next.serve(next.at)
	}
	slices.SortStableFunc(u.events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	events := shuffleTies(u.events, rapid.Uint64().Draw(t, "order of ties"))
	last := events[len(events)-1].Time
	return history.Header{Nodes: 5, Clients: clients}, append(events, history.Event{Time: last + 1, Kind: history.End})
}

func (u *updater) add(at int, kind history.Kind, value int64, o history.Outcome) {
	u.events = append(u.events, history.Event{
		Time: history.Time(at), Kind: kind, Client: u.client, Resource: "r", Token: u.token, Value: value, Outcome: o,
	})
}

func (u *updater) later(now, least, most int, what string) int {
	return now + rapid.IntRange(least, most).Draw(u.t, what)
}

func (u *updater) begin(now int) {
	u.tokens++
	u.token, u.grants = fmt.Sprint("token", u.tokens), 1
	u.add(now, history.Acquire, 0, 0)
	u.add(now, history.Granted, 0, 0)
	u.read(now)
}

// read begins a section.
func (u *updater) read(now int) {
	now = u.later(now, 1, 4, "before the read")
	u.add(now, history.Read, 0, 0)
	u.pending = append(u.pending, arrival{u.later(now, 0, 2, "read arrives"), func(now int) {
		value, _ := u.guard.Read("r", u.token, 0)
		now = u.later(now, 0, 2, "read returns")
		u.add(now, history.ReadDone, value, history.OK)
		u.askAgain(now)
		u.write(u.later(now, 1, 5, "work"), value+1)
	}})
}

// askAgain may ask for the lock again, under the token that holds it.
func (u *updater) askAgain(now int) {
	switch rapid.IntRange(0, 3).Draw(u.t, "again") {
	case 0:
		u.add(now, history.Acquire, 0, 0)
		u.add(now+1, history.Refused, 0, 0)
	case 1:
		u.add(now, history.Acquire, 0, 0)
		u.add(now, history.Granted, 0, 0)
		u.grants++
	}
}

// fate is what becomes of a write.
type fate string

func (u *updater) write(now int, value int64) {
	u.add(now, history.Write, value, 0)
	how := rapid.SampledFrom([]fate{"returns", "returns", "returns", "not answered", "lost", "its client dies", "posted"}).Draw(u.t, "fate")
	arrives := u.later(now, 0, 3, "write arrives")
	if how != "returns" {
		arrives = u.later(arrives, 0, 25, "late")
	}
	if how != "lost" {
		u.pending = append(u.pending, arrival{arrives, u.apply(value)})
	}
	switch how {
	case "returns":
		now = u.later(arrives, 0, 2, "write returns")
		u.add(now, history.WriteDone, value, history.OK)
	case "its client dies":
		u.add(u.later(now, 0, 2, "death"), history.Kill, 0, 0)
		return
	case "posted":
		u.release(now)
		u.add(u.later(arrives, 0, 2, "write returns"), history.WriteDone, value, history.OK)
		return
	default:
		now = u.later(now, 1, 3, "given up")
		u.add(now, history.WriteDone, value, history.Unknown)
	}
	u.goOn(now)
}

// apply returns what the resource does when the write arrives. It may not know the client.
func (u *updater) apply(value int64) func(now int) {
	token, client := u.token, u.client
	if rapid.IntRange(0, 4).Draw(u.t, "anonymous") == 0 {
		client = 0
	}
	return func(now int) {
		u.guard.Write("r", token, 0, value)
		u.events = append(u.events, history.Event{Time: history.Time(now), Kind: history.Apply, Client: client, Resource: "r", Token: token, Value: value})
	}
}

// goOn begins another section, under the same token or another one.
func (u *updater) goOn(now int) {
	u.rounds--
	same := rapid.Bool().Draw(u.t, "same token")
	if !same || u.rounds == 0 {
		u.release(now)
	}
	switch {
	case u.rounds == 0:
	case same:
		u.read(now)
	default:
		u.begin(now + 1)
	}
}

func (u *updater) release(now int) {
	for range u.grants {
		u.add(now, history.Release, 0, 0)
		u.add(now, history.Released, 0, history.OK)
	}
}

// Law: where the applies of a history show that an update was lost, effect exclusion does not hold.
func TestCountedLossRefutesEffectExclusion(t *testing.T) {
	all, lost, found := 0, 0, 0
	repeat(t, *histories/5, func(t *rapid.T) {
		header, events := drawUpdates(t)
		if err := contradicted(header, events); err != nil {
			t.Fatalf("%v in\n%s", err, listed(events))
		}
		report := judge(header, events)
		f := report.Finding(checker.Effect)
		all++
		if report.Measurements.LostUpdates <= 0 {
			return
		}
		lost++
		if f.Verdict == checker.Holds {
			t.Fatalf("%d of %d updates are lost, and %v %v (%s) in\n%s", report.Measurements.LostUpdates, report.Measurements.Updates, f.Property, f.Verdict, f.Story(), listed(events))
		}
		if f.Verdict == checker.Violated {
			found++
		}
	})
	t.Logf("of %d histories %d lose an update, and %d of these are violated", all, lost, found)
	if !t.Failed() && (lost*4 < all || found*100 < lost*95) {
		t.Error("want a quarter of the histories to lose an update, and 95 of 100 of these violated")
	}
}
