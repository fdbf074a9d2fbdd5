package checker_test

import (
	"errors"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

func contradicted(h history.Header, events []history.Event) error {
	panel := checker.New(h)
	for i := range events {
		panel.Record(&events[i])
	}
	panel.Finish()
	return panel.Err()
}

// Law: a history that can be true is not refused, whatever the order in which the events
// of an instant are recorded.
func TestWhatCanBeIsNotRefused(t *testing.T) {
	repeat(t, 5_000, func(t *rapid.T) {
		header, events := write(drawScripts(t), rapid.Uint64().Draw(t, "order"))
		if err := contradicted(header, events); err != nil {
			t.Fatal(err)
		}
	})
	repeat(t, 500, func(t *rapid.T) {
		header, events := drawLedgered(t).write(rapid.Uint64().Draw(t, "order"))
		if err := contradicted(header, events); err != nil {
			t.Fatal(err)
		}
	})
}

// Law: a link can come up twice in an instant, if a fault begins and ends between: links stay down for longer than the
// fault that has held them up. It cannot if nothing takes it down between.
func TestLinkComesUpTwice(t *testing.T) {
	up := history.Event{Time: 20, Kind: history.LinkUp, Client: 1, Node: 1}
	down := history.Event{Time: 20, Kind: history.LinkDown, Client: 1, Node: 1, Fault: 2}
	before := history.Event{Time: 10, Kind: history.LinkDown, Client: 1, Node: 1, Fault: 1}
	header := history.Header{Nodes: 1, Clients: 1}
	for _, order := range [][]history.Event{{up, down, up}, {up, up, down}, {down, up, up}} {
		if err := contradicted(header, append([]history.Event{before}, order...)); err != nil {
			t.Errorf("%v: %v", order, err)
		}
	}
	if err := contradicted(header, []history.Event{before, up, up}); err == nil {
		t.Error("a link is up twice, and nothing is said")
	}
}

// Law: what a history may speak of at a time is bounded, and with it the memory that it
// takes to judge it: tries that never return, and resources.
func TestEndlessHistoriesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		write func(e *history.Event, i int)
		most  int
	}{
		"tries":     {func(e *history.Event, i int) { e.Token = strconv.Itoa(i) }, 1 << 18},
		"resources": {func(e *history.Event, i int) { e.Resource = strconv.Itoa(i) }, 1 << 18},
		"late": {func(e *history.Event, i int) {
			e.Time, e.Kind, e.Token = 1, history.Granted, strconv.Itoa(i)
		}, 1 << 12},
		"instant": {func(e *history.Event, i int) {
			e.Time, e.Kind, e.Node = 1, history.KeySet, 1
		}, 1 << 18},
	} {
		t.Run(name, func(t *testing.T) {
			panel := checker.New(history.Header{Nodes: 1, Clients: 2}, checker.Lease)
			i := 0
			for ; panel.Err() == nil && i < 2*c.most; i++ {
				e := history.Event{Time: history.Time(i / 2), Kind: history.Acquire, Client: i%2 + 1, Resource: "r"}
				c.write(&e, i)
				panel.Record(&e)
				if e.Kind == history.Acquire && e.Resource != "r" {
					e.Kind = history.Refused
					panel.Record(&e)
				}
			}
			if i <= c.most || i > c.most+3 {
				t.Errorf("after %d of them, not just beyond %d: %v", i, c.most, panel.Err())
			}
		})
	}
}

// Law: tries that share a token and an instant do not cost the square of their number: each change
// of a key concerns all of them, and these are counted. Properties not violated until the bound are
// unknown.
func TestOneTokenForAllTriesIsBounded(t *testing.T) {
	panel := checker.New(history.Header{Nodes: 1, Clients: 1, Keepers: 1, Keys: true})
	tries := 0
	for ; panel.Err() == nil && tries < 10_000; tries++ {
		for _, kind := range []history.Kind{history.Acquire, history.KeySet, history.KeyGone, history.Refused} {
			panel.Record(&history.Event{Time: 1, Kind: kind, Client: 1, Node: 1, Resource: "r", Token: "t", Reason: history.Deleted})
		}
	}
	var c *checker.Contradiction
	if !errors.As(panel.Err(), &c) || !c.TooMuch || tries > 1_000 {
		t.Errorf("after %d tries: %v", tries, panel.Err())
	}
	for _, f := range panel.Finish().Findings {
		if f.Verdict != checker.Unknown {
			t.Errorf("%v: %v", f.Property, f.Verdict)
		}
	}
}
