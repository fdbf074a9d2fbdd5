package fuzz

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// at returns an event of client 1 or 2 for the resource r. Its token is named after the
// client.
func at(t time.Duration, kind history.Kind, client, node int) history.Event {
	return history.Event{Time: history.Time(t), Kind: kind, Client: client, Node: node, Resource: "r", Token: string(rune('a' + client))}
}

// votes returns the measure of missing votes at a time of a hold of one second.
func votes(n int, after time.Duration) int64 { return int64(n)<<timeBits + share(after, time.Second) }

func TestFitness(t *testing.T) {
	then := func(before []history.Event, more ...history.Event) []history.Event {
		return slices.Concat(before, more)
	}
	calm := []history.Event{
		at(0, history.Acquire, 1, 0),
		at(1*ms, history.KeySet, 1, 1), at(1*ms, history.KeySet, 1, 2), at(1*ms, history.KeySet, 1, 3),
		at(2*ms, history.Granted, 1, 0),
	}
	lapsed := then(calm, at(900*ms, history.Lapse, 1, 0), at(910*ms, history.Acquire, 2, 0), at(950*ms, history.Granted, 2, 0))
	refused := then(calm, at(3*ms, history.Acquire, 2, 0), at(5*ms, history.KeySet, 2, 4), at(8*ms, history.Refused, 2, 0))
	cases := map[string]struct {
		events []history.Event
		of     measure
		want   int64
	}{
		"a holder with a bare quorum":    {calm, ownVotes, votes(3, 0)},
		"one that loses a key":           {then(calm, at(7*ms, history.KeyGone, 1, 2)), ownVotes, votes(2, 5*ms)},
		"no rival":                       {calm, rivalVotes, unmeasured},
		"a rival with one vote of three": {refused, rivalVotes, votes(2, 3*ms)},
		"votes after the release":        {then(calm, at(5*ms, history.Release, 1, 0), at(6*ms, history.Acquire, 2, 0), at(7*ms, history.KeySet, 2, 4)), rivalVotes, unmeasured},
		"a grant after a lapse":          {lapsed, gap, int64(50 * ms)},
		"a grant after a release":        {then(calm, at(5*ms, history.Release, 1, 0), at(6*ms, history.Acquire, 2, 0), at(7*ms, history.Granted, 2, 0)), gap, unmeasured},
		"a key that is left":             {then(refused, at(28*ms, history.KeyGone, 2, 4)), leftKey, share(30*ms, 50*ms)},
		"a key that stays":               {then(refused, at(38*ms, history.End, 0, 0)), leftKey, share(20*ms, 50*ms)},
		"nobody granted":                 {[]history.Event{at(0, history.Acquire, 2, 0), at(80*ms, history.End, 0, 0)}, waiting, share(120*ms, 200*ms)},
	}
	for name, c := range cases {
		shown := newFitness(history.Header{
			Nodes: 5, Clients: 2, LongestTTL: time.Second, Keys: true,
			Bounds: history.Bounds{Acquire: 100 * ms, Release: 100 * ms, Cleanup: 50 * ms, Tries: 5, Grant: 200 * ms},
		})
		for _, e := range c.events {
			shown.Record(&e)
		}
		if got := shown.near[c.of]; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The near miss of many runs is the smallest of any. Unmeasured ones are not mentioned.
func TestNearMissIsTheClosest(t *testing.T) {
	measured := func(votes, gapped, left int64) NearMiss {
		c := fitness{}
		for m := range c.near {
			c.near[m] = unmeasured
		}
		c.near[rivalVotes], c.near[gap], c.near[remaining] = votes, gapped, left
		return c.nearMiss()
	}
	best := NearMiss{}
	for _, c := range []struct {
		next NearMiss
		want string
	}{
		{measured(unmeasured, unmeasured, unmeasured), ""},
		{measured(2<<timeBits+7, unmeasured, int64(5*ms)), "2 votes short, validity 5ms"},
		{measured(unmeasured, int64(30*ms), int64(9*ms)), "2 votes short, 30ms apart, validity 5ms"},
		{measured(1<<timeBits, 0, unmeasured), "1 vote short, 0s apart, validity 5ms"},
	} {
		if best = best.Closer(c.next); best.String() != c.want {
			t.Errorf("%q: want %q", best, c.want)
		}
	}
}

// A fault counts if and only if it begins while one client holds what another wants.
func TestContention(t *testing.T) {
	event := func(k history.Kind, client int, resource, token string) history.Event {
		return history.Event{Kind: k, Client: client, Resource: resource, Token: token}
	}
	var (
		fault = history.Event{Kind: history.FaultStart, Fault: 1}
		holds = []history.Event{event(history.Acquire, 1, "r", "a"), event(history.Granted, 1, "r", "a")}
		wants = event(history.Acquire, 2, "r", "b")
	)
	for name, c := range map[string]struct {
		events []history.Event
		want   bool
	}{
		"nobody wants it":            {[]history.Event{fault}, false},
		"somebody wants it":          {[]history.Event{wants, fault}, true},
		"between two tries":          {[]history.Event{wants, event(history.Refused, 2, "r", "b"), fault}, true},
		"somebody wants another":     {[]history.Event{event(history.Acquire, 2, "s", "b"), fault}, false},
		"who wanted it has given up": {[]history.Event{wants, event(history.Cancel, 2, "", ""), event(history.Refused, 2, "r", "b"), fault}, false},
		"who wanted it is dead":      {[]history.Event{wants, event(history.Kill, 2, "", ""), fault}, false},
		"the validity has ended":     {[]history.Event{wants, event(history.Lapse, 1, "r", "a"), fault}, false},
		"the holder knows of a loss": {[]history.Event{wants, event(history.Lost, 1, "r", "a"), fault}, false},
		"the holder was warned":      {[]history.Event{wants, event(history.Expiring, 1, "r", "a"), fault}, true},
		"it is being released":       {[]history.Event{wants, event(history.Release, 1, "r", "a"), fault}, false},
		"it was granted in turn":     {[]history.Event{wants, event(history.Release, 1, "r", "a"), event(history.Granted, 2, "r", "b"), fault}, false},
		"the fault ends then":        {[]history.Event{wants, {Kind: history.FaultEnd, Fault: 1}}, false},
		"the fault came before":      {[]history.Event{fault, wants}, false},
	} {
		watch := newContention()
		for _, e := range slices.Concat(holds, c.events) {
			watch.Record(&e)
		}
		if watch.seen != c.want {
			t.Errorf("where %s a fault in a contended hold was seen: %v", name, watch.seen)
		}
	}
}
