package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// acknowledged is an asynchronous world whose clients count acknowledgements.
func acknowledged(rule nemesis.Acknowledged, plan ...nemesis.Fault) nemesis.Setting {
	s := asynchronous(1, 3, plan...)
	s.Store.Acknowledged = rule
	return s
}

// Each rule counts the nodes that are connected at another time. Nodes that are gone before a change reaches
// them acknowledge nothing.
func TestAcknowledgements(t *testing.T) {
	gone := func(start, length time.Duration) []nemesis.Fault {
		return []nemesis.Fault{crash(2, start, length), crash(3, start, length)}
	}
	for name, c := range map[string]struct {
		s             nemesis.Setting
		first, second string // the second is asked at 60 ms
	}{
		"one":                     {acknowledged("one"), "a@1=1 at 32ms", "b@2=2 at 92ms"},
		"one of one":              {acknowledged("one", crash(2, 0, time.Second)), "a@1=1 at 32ms", "b@2=2 at 92ms"},
		"one of none":             {acknowledged("one", gone(0, time.Second)...), "a@1=1 at 2ms", "b@2=2 at 62ms"},
		"gone meanwhile":          {acknowledged("one", gone(10*ms, 30*ms)...), "late at 50ms", "b@2=2 at 92ms"},
		"all that are connected":  {acknowledged("connected", gone(0, 50*ms)...), "a@1=1 at 2ms", "b@2=2 at 92ms"},
		"as many as at first":     {acknowledged("cached", gone(0, 50*ms)...), "a@1=1 at 2ms", "b@2=2 at 62ms"},
		"more than are connected": {acknowledged("cached", gone(50*ms, time.Second)...), "a@1=1 at 32ms", "late at 110ms"},
	} {
		play(t, c.s, func(w *World) {
			u := user{w, 1}
			asked := func(r env.StoreRequest) string {
				text := u.ask(r, 50*ms)
				if !strings.Contains(text, "@") {
					text = "late" + text[strings.LastIndex(text, " at "):]
				}
				return text
			}
			expect(t, name+": first", asked(create("a", "1")), c.first)
			until(w, 1, 60*ms)
			expect(t, name+": second", asked(create("b", "2")), c.second)
		})
	}
}

// A node that was away gets all that it has missed from the leader. If the leader is gone before, what it
// answered alone is lost.
func TestNodesThatWereAwayFollowAgain(t *testing.T) {
	for at, left := range map[time.Duration]string{60 * ms: "a@1=1", 40 * ms: "done"} {
		s := acknowledged("connected", crash(2, 0, 50*ms), crash(3, 0, 50*ms), crash(1, at, time.Second))
		play(t, s, func(w *World) {
			u := user{w, 1}
			expect(t, "create", u.ask(create("a", "1"), time.Second), "a@1=1 at 2ms")
			until(w, 1, 100*ms)
			u.connect(2)
			expect(t, "what is left", u.ask(list, time.Second), left+" at 102ms")
		})
	}
}

// A store can end sessions that are kept alive, and prolong those that are not.
func TestFaultsOfSessions(t *testing.T) {
	for name, c := range map[string]struct {
		fault nemesis.Fault
		want  string
	}{
		"revoked": {nemesis.Fault{Action: &nemesis.LeaseRevoked{}, Start: nemesis.At(20 * ms)}, "A session over at 20ms"},
		"restart": {nemesis.Fault{Action: &nemesis.TTLRestart{}, Start: nemesis.At(50 * ms)}, "A session over at 150ms"},
	} {
		log := play(t, stored(1, 3, c.fault), func(w *World) {
			u := user{w, 1}
			session := u.open(t, 100*ms)
			u.ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "A", Session: session}, time.Second)
			until(w, 1, 200*ms)
			u.ask(list, time.Second)
		})
		expect(t, name, goneEntries(log), c.want)
	}
}
