package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

func update(key string, revision uint64, value string) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreUpdate, Key: key, Revision: revision, Value: value}
}

// The token of an entry is the beginning of its value. An update to another token is recorded as the
// end of one entry and the beginning of another; an update that keeps the token is not recorded.
func TestUpdatesAreRecordedByTheirTokens(t *testing.T) {
	var got []string
	log := play(t, stored(1, 3), func(w *World) {
		u := user{w, 1}
		for _, token := range []string{"a", "b"} {
			w.Record(history.Event{Kind: history.Acquire, Client: 1, Resource: "r", Token: token})
		}
		u.ask(create("k", "a 1"), time.Second)
		for i, value := range []string{"a 2", "b 1", "b 2", " 3", "a 3"} {
			u.ask(update("k", uint64(1+i), value), time.Second)
		}
	})
	for _, e := range log {
		if e.Kind == history.EntrySet || e.Kind == history.EntryDeleted {
			got = append(got, fmt.Sprintf("%v %s", e.Kind, e.Token))
		}
	}
	want := []string{"entry-set a", "entry-deleted a", "entry-set b", "entry-deleted b", "entry-set a"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}
