package fuzz

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// A fault counts if it begins while one client holds what another wants, and at no
// other time.
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
