package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// expiring is an entry that expires by itself.
func expiring(key string, ttl time.Duration) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: "v", TTL: ttl, Expires: true}
}

func renew(key string, revision uint64, ttl time.Duration) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreRenew, Key: key, Revision: revision, TTL: ttl}
}

// awaitExpiring creates an entry that expires after 100 ms at the leader, which it reaches at
// 1 ms, lets it be renewed at the given times for 100 ms, and returns the reply to a client that
// waits for the end of its latest revision.
func awaitExpiring(t *testing.T, s nemesis.Setting, renewals ...time.Duration) (told string) {
	t.Helper()
	play(t, s, func(w *World) {
		u := user{w, 1}
		u.ask(expiring("k", 100*ms), time.Second)
		for i, at := range renewals {
			until(w, 1, at)
			u.ask(renew("k", uint64(1+i), 100*ms), time.Second)
		}
	}, func(w *World) {
		u := user{w, 2}
		begin := 20 * ms
		if n := len(renewals); n > 0 {
			begin = renewals[n-1] + 10*ms
		}
		sleep(w, 2, begin)
		for told = "lost"; told[:4] == "lost" || told[:2] == "no"; {
			told = u.ask(env.StoreRequest{Op: env.StoreAwait, Key: "k", Revision: uint64(1 + len(renewals))}, 5*time.Second)
		}
	})
	return told
}

// An entry expires by the leader's monotonic clock, counted from its last renewal, and a new
// leader counts anew.
func TestEntryExpiresByTheLeadersMonotonicClock(t *testing.T) {
	leaders := nemesis.Machine{Node: 1}
	for name, c := range map[string]struct {
		plan     nemesis.Plan
		renewals []time.Duration
		want     string
	}{
		"not renewed": {nil, nil, "done at 104ms"},
		"renewed":     {nil, []time.Duration{50 * ms}, "done at 154ms"},
		"twice":       {nil, []time.Duration{50 * ms, 140 * ms}, "done at 244ms"},
		"jump":        {nemesis.Plan{forGood(&nemesis.ClockJump{Machine: leaders, By: time.Hour}, 10*ms)}, nil, "done at 104ms"},
		"fast":        {nemesis.Plan{fault(&nemesis.ClockRate{Machine: leaders, PPM: 250_000}, 51*ms, time.Second)}, nil, "done at 94ms"},
		"new leader":  {nemesis.Plan{fault(&nemesis.Crash{Node: 1}, 60*ms, time.Second)}, nil, "done at 183ms"}, // who leads at 80 ms
	} {
		expect(t, name, awaitExpiring(t, stored(2, 3, c.plan...), c.renewals...), c.want)
	}
}

// A renewal gives the entry another revision, and the former one names nothing any more.
func TestRenewalChangesTheRevision(t *testing.T) {
	log := play(t, stored(2, 3), func(w *World) {
		u := user{w, 1}
		expect(t, "create", u.ask(expiring("k", 100*ms), time.Second), "k@1=v at 4ms")
		expect(t, "other", u.ask(create("other", ""), time.Second), "other@2= at 8ms")
		sleep(w, 1, 12*ms)
		expect(t, "renew", u.ask(renew("k", 1, 10*ms), time.Second), "k@3=v at 24ms")
		expect(t, "renew at the former revision", u.ask(renew("k", 1, time.Hour), time.Second), "declined at 28ms")
		expect(t, "delete at the former revision", u.ask(env.StoreRequest{Op: env.StoreDelete, Key: "k", Revision: 1}, time.Second), "declined at 32ms")
		expect(t, "await the former revision", u.ask(env.StoreRequest{Op: env.StoreAwait, Key: "k", Revision: 1}, time.Second), "done at 34ms")
		expect(t, "renew what does not expire", u.ask(renew("other", 2, 50*ms), time.Second), "declined at 38ms")
		expect(t, "sweep", u.ask(env.StoreRequest{Op: env.StoreSweep}, time.Second), "done at 42ms")
		expect(t, "list", u.ask(list, time.Second), "other@2= k@3=v at 44ms")
		until(w, 1, 98*ms) // a shorter time to live does not shorten the life: the entry expires at 101 ms
		expect(t, "it still lives", u.ask(renew("k", 3, ms), time.Second), "k@4=v at 102ms")
		expect(t, "renew what has expired", u.ask(renew("k", 4, 50*ms), time.Second), "declined at 106ms")
		expect(t, "create again", u.ask(expiring("k", time.Second), time.Second), "k@6=v at 110ms")
		expect(t, "delete", u.ask(env.StoreRequest{Op: env.StoreDelete, Key: "k", Revision: 6}, time.Second), "done at 114ms")
	}, func(w *World) {
		sleep(w, 2, 10*ms)
		u := user{w, 2}
		expect(t, "who waits is answered by a renewal", u.ask(env.StoreRequest{Op: env.StoreAwait, Key: "k", Revision: 1}, time.Second), "done at 24ms")
	})
	gone := ""
	for _, e := range log {
		if e.Kind == history.EntryGone {
			gone += e.Reason
		}
	}
	expect(t, "entries gone", gone, history.Expired)
}
