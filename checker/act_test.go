package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// crowd is how many turns wait behind an act at most, and a few more.
const crowd = 300

// behindAct is a history of a client that writes under a try that never returns, and of so many
// later windows of another client that the checker drops the write. The events of after follow the
// write; those of between come somewhere before.
func behindAct(after []history.Event, between ...history.Event) []history.Event {
	var events []history.Event
	now := history.Time(0)
	add := func(e history.Event) {
		now++
		e.Time, e.Resource = now, "r"
		events = append(events, e)
	}
	act := func(list []history.Event) {
		for _, e := range list {
			e.Client, e.Token = 1, "acts"
			add(e)
		}
	}
	act([]history.Event{{Kind: history.Acquire}, {Kind: history.Write, Value: 1}})
	for i := range crowd {
		if i == 1 {
			act(between)
		}
		for _, k := range []history.Kind{history.Acquire, history.Granted, history.Release, history.Released} {
			add(history.Event{Kind: k, Client: 2, Token: fmt.Sprint(i), Outcome: history.OK})
		}
	}
	act(after)
	add(history.Event{Kind: history.End})
	return events
}

// Law: a window that gave way to those that waited behind it hides nothing. If its act comes
// to something after all, exclusion is unknown, unless an overlap was seen.
func TestWhatGaveWayIsNotForgotten(t *testing.T) {
	done := func(o history.Outcome) []history.Event {
		return []history.Event{{Kind: history.WriteDone, Value: 1, Outcome: o}}
	}
	release := []history.Event{{Kind: history.Release}, {Kind: history.Released, Outcome: history.Unknown}}
	for name, c := range map[string]struct {
		after, between []history.Event
		want           checker.Verdict
	}{
		"it succeeds":                     {done(history.OK), nil, checker.Unknown},
		"it is applied":                   {[]history.Event{{Kind: history.Apply, Value: 1}}, nil, checker.Unknown},
		"it succeeds after the release":   {done(history.OK), release, checker.Unknown},
		"it is applied after the death":   {[]history.Event{{Kind: history.Kill}, {Kind: history.Apply, Value: 1}}, nil, checker.Unknown},
		"it died long before":             {[]history.Event{{Kind: history.Apply, Value: 1}}, []history.Event{{Kind: history.Kill}}, checker.Unknown},
		"it fails":                        {done(history.Declined), nil, checker.Holds},
		"nobody can tell":                 {done(history.Unknown), nil, checker.Holds},
		"it is never heard of":            {nil, nil, checker.Holds},
		"its try is refused":              {[]history.Event{{Kind: history.Refused}}, nil, checker.Holds},
		"another succeeds, not this":      {append(done(history.Declined), history.Event{Kind: history.Write, Value: 2}, history.Event{Kind: history.WriteDone, Value: 2, Outcome: history.OK}), nil, checker.Holds},
		"another succeeds, and then this": {append([]history.Event{{Kind: history.Write, Value: 2}, {Kind: history.WriteDone, Value: 2, Outcome: history.OK}}, done(history.OK)...), nil, checker.Unknown},
	} {
		header := history.Header{Nodes: 1, Clients: 2}
		report := judge(header, behindAct(c.after, c.between...))
		for _, p := range []checker.Property{checker.Lease, checker.Section} {
			f := report.Finding(p)
			if f.Verdict != c.want {
				t.Errorf("%s: %v is %v, want %v: %s", name, p, f.Verdict, c.want, f.Story())
			}
			if c.want == checker.Unknown && !(strings.HasPrefix(f.Story(), "client 1 acted at 2ns") && strings.Contains(f.Story(), "token acts")) {
				t.Errorf("%s: %v: the story does not say who acted: %s", name, p, f.Story())
			}
		}
	}
}

// Law: an overlap that is seen is reported, whatever else was missed.
func TestWhatGaveWayOverlaps(t *testing.T) {
	events := behindAct([]history.Event{{Kind: history.WriteDone, Value: 1, Outcome: history.OK}})
	end := events[len(events)-1]
	events = events[:len(events)-1]
	for i, k := range []history.Kind{history.Acquire, history.Granted, history.End} {
		events = append(events, history.Event{Time: end.Time + history.Time(i), Kind: k, Client: 2, Resource: "r", Token: "late"})
	}
	for _, p := range []checker.Property{checker.Lease, checker.Section} {
		if f := judge(history.Header{Nodes: 1, Clients: 2}, events).Finding(p); f.Verdict != checker.Violated || f.First.First.Token != "acts" {
			t.Errorf("%v is %v: %s", p, f.Verdict, f.Story())
		}
	}
}
