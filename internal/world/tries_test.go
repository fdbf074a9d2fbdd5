package world

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// An entry is that of the try whose token it has. An entry of no try is not recorded.
func TestTries(t *testing.T) {
	var tries Tries
	tries.Note(&history.Event{Time: 5, Kind: history.Acquire, Client: 2, Resource: "r", Token: "a"})
	tries.Note(&history.Event{Time: 6, Kind: history.Release, Client: 3, Resource: "r", Token: "b"})
	for client := 4; client <= 5; client++ { // clones of one machine
		tries.Note(&history.Event{Time: history.Time(3 + client), Kind: history.Acquire, Client: client, Resource: "r", Token: "twin"})
	}
	twin := history.Event{Kind: history.EntrySet, Client: 4, Token: "twin"}
	if !tries.Complete(&twin) || twin.Client != 4 || twin.Sent != 7 {
		t.Errorf("the entry of a clone: %+v", twin)
	}
	for _, c := range []struct {
		kind  history.Kind
		token string
		want  history.Event
		known bool
	}{
		{history.EntrySet, "a", history.Event{Kind: history.EntrySet, Token: "a", Resource: "r", Client: 2, Sent: 5}, true},
		{history.EntryDeleted, "a", history.Event{Kind: history.EntryDeleted, Token: "a", Resource: "r"}, true},
		{history.EntryGone, "a", history.Event{Kind: history.EntryGone, Token: "a"}, true},
		{history.EntrySet, "b", history.Event{Kind: history.EntrySet, Token: "b"}, false},
		{history.EntrySet, "twin", history.Event{Kind: history.EntrySet, Token: "twin", Resource: "r", Client: 5, Sent: 8}, true},
		{history.EntriesSeen, "", history.Event{Kind: history.EntriesSeen}, true},
	} {
		e := history.Event{Kind: c.kind, Token: c.token}
		if known := tries.Complete(&e); known != c.known || e != c.want {
			t.Errorf("%v of %q: %t, %+v", c.kind, c.token, known, e)
		}
	}
}

// A key is that of the try whose token it has, if it has the name of what the try is for.
func TestTriesOfKeys(t *testing.T) {
	var tries Tries
	tries.Note(&history.Event{Time: 5, Kind: history.Acquire, Client: 2, Resource: "r", Token: "a"})
	for _, c := range []struct {
		e, want history.Event
		known   bool
	}{
		{history.Event{Kind: history.KeySet, Node: 3, Resource: "r", Token: "a"}, history.Event{Kind: history.KeySet, Node: 3, Resource: "r", Token: "a", Client: 2, Sent: 5}, true},
		{history.Event{Kind: history.KeySet, Resource: "r", Token: "a", Reason: history.RolledBack}, history.Event{Kind: history.KeySet, Resource: "r", Token: "a"}, true},
		{history.Event{Kind: history.KeyExtended, Resource: "r", Token: "a"}, history.Event{Kind: history.KeyExtended, Resource: "r", Token: "a"}, true},
		{history.Event{Kind: history.KeyGone, Resource: "r", Token: "a", Reason: history.RolledBack}, history.Event{Kind: history.KeyGone, Resource: "r", Token: "a", Reason: history.RolledBack}, true},
		{history.Event{Kind: history.KeySet, Resource: "fence:r", Token: "a"}, history.Event{Kind: history.KeySet, Resource: "fence:r", Token: "a"}, false},
		{history.Event{Kind: history.KeySet, Resource: "r", Token: "7"}, history.Event{Kind: history.KeySet, Resource: "r", Token: "7"}, false},
	} {
		e := c.e
		if known := tries.Complete(&e); known != c.known || e != c.want {
			t.Errorf("%+v: %t, %+v", c.e, known, e)
		}
	}
}
