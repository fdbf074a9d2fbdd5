package sim

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Each change of a try's entry is recorded once, with its cause. An entry of no try is not.
func TestStoreRecordsEntries(t *testing.T) {
	log := play(t, stored(1, 3), func(w *World) {
		ask := func(r env.StoreRequest) env.StoreReply {
			reply, err := user{w, 1}.try(r, time.Second)
			if err != nil {
				t.Error(err)
			}
			return reply
		}
		for _, token := range []string{"released", "expired", "swept"} {
			w.Record(history.Event{Kind: history.Acquire, Client: 1, Resource: "r", Token: token})
		}
		session := ask(env.StoreRequest{Op: env.StoreOpen, TTL: 50 * ms}).Session
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "released", Session: session})
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "expired", Session: session}) // declined
		ask(remove("a"))
		ask(remove("a")) // declined
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "expired", Session: session})
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "b", Value: "swept", TTL: ms})
		ask(create("c", "of no try"))
		sleep(w, 1, 200*ms)
		ask(env.StoreRequest{Op: env.StoreSweep, Key: "b"})
		ask(remove("c"))
	})
	var got []string
	for _, e := range log {
		switch e.Kind {
		case history.EntrySet, history.EntryDeleted, history.EntryGone:
			got = append(got, e.Kind.String()+" "+e.Token+" "+e.Reason)
		}
	}
	want := []string{
		"entry-set released ", "entry-deleted released ", "entry-set expired ", "entry-set swept ",
		"entry-gone expired session over", "entry-gone swept swept",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("recorded: %q, not %q", got, want)
	}
}
