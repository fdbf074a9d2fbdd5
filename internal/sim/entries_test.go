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
	var log history.Log
	s := stored(1, 3)
	w, err := Open(t.Context(), s, 1, &log)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(t.Context(), func(client int) {
		if client != 1 {
			return
		}
		ask := func(r env.StoreRequest) env.StoreReply {
			reply, err := w.Store(1).Ask(t.Context(), r, w.Runtime(1).Now(env.Monotonic).Add(time.Second))
			if err != nil {
				t.Error(err)
			}
			return reply
		}
		for _, token := range []string{"released", "expired", "swept"} {
			w.Record(history.Event{Kind: history.Acquire, Client: 1, Resource: "r", Token: token})
		}
		session := ask(env.StoreRequest{Op: env.StoreOpen, TTL: 50 * time.Millisecond}).Session
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "released", Session: session})
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "expired", Session: session}) // declined
		ask(env.StoreRequest{Op: env.StoreDelete, Key: "a"})
		ask(env.StoreRequest{Op: env.StoreDelete, Key: "a"}) // declined
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "expired", Session: session})
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "b", Value: "swept", TTL: time.Millisecond})
		ask(env.StoreRequest{Op: env.StoreCreate, Key: "c", Value: "of no try"})
		_ = w.Runtime(1).Sleep(t.Context(), w.Runtime(1).Now(env.Monotonic).Add(200*time.Millisecond))
		ask(env.StoreRequest{Op: env.StoreSweep, Key: "b"})
		ask(env.StoreRequest{Op: env.StoreDelete, Key: "c"})
	})
	if err != nil {
		t.Fatal(err)
	}
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
