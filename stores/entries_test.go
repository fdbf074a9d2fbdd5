//go:build linux

package stores

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// entryLock is a lock that keeps an entry in a store while it is held. It says that it has deleted
// the entry, and forgets it if it is defective.
type entryLock struct {
	world     storeWorld
	record    func(history.Event)
	defective bool
}

// use acquires and releases the lock under a token, and returns when the release has returned.
func (l entryLock) use(token string, sessions bool) error {
	const client, resource = 1, "invoice"
	ask := func(r env.StoreRequest) (env.StoreReply, error) {
		reply, err := l.world.Store(client).Ask(context.Background(), r, l.world.Runtime(client).Now(env.Monotonic).Add(patience))
		if err == nil && !reply.Done {
			err = fmt.Errorf("%v was declined", r.Op)
		}
		return reply, err
	}
	tell := func(kind history.Kind, outcome history.Outcome) {
		l.record(history.Event{Kind: kind, Client: client, Resource: resource, Token: token, Outcome: outcome})
	}
	create := env.StoreRequest{Op: env.StoreCreate, Key: resource + "/" + token, Value: token}
	if sessions {
		opened, err := ask(env.StoreRequest{Op: env.StoreOpen, TTL: storeTTL})
		if err != nil {
			return err
		}
		create.Session = opened.Session
	}
	tell(history.Acquire, 0)
	if _, err := ask(create); err != nil {
		return err
	}
	tell(history.Granted, 0)
	tell(history.Release, 0)
	if !l.defective {
		if _, err := ask(env.StoreRequest{Op: env.StoreDelete, Key: create.Key}); err != nil {
			return err
		}
	}
	tell(history.Released, history.OK)
	return nil
}

// entryHistory is what a world has recorded so far.
type entryHistory struct {
	mu     sync.Mutex
	events []history.Event
}

func (h *entryHistory) Record(e *history.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, *e)
}

// findings judges whether entries are cleaned up, and whether releases tell the truth, as of now.
func (h *entryHistory) findings(header history.Header) []checker.Finding {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := checker.New(header)
	end := history.Event{Kind: history.End}
	for i := range h.events {
		c.Record(&h.events[i])
		end.Time = h.events[i].Time
	}
	if n := len(h.events); n == 0 || h.events[n-1].Kind != history.End {
		c.Record(&end)
	}
	return slices.DeleteFunc(c.Finish().Findings, func(f checker.Finding) bool {
		return f.Property != checker.Cleanup && f.Property != checker.Contract
	})
}

// A lock whose release does not delete its entry is found on every real store that is watched: by clean-up, and
// because its release does not tell the truth. The sound lock holds.
//
// While the machine is too busy for the watch, an entry that stays says nothing. So the lock is used again
// until the verdicts are there.
func TestStoresRecordEntries(t *testing.T) {
	for _, p := range Products() {
		if !p.Watched {
			continue
		}
		can := storeAbilities[p.Product]
		for defect, want := range map[bool]checker.Verdict{false: checker.Holds, true: checker.Violated} {
			t.Run(fmt.Sprintf("%s/defective=%t", p.Product, defect), func(t *testing.T) {
				s := storeSetting(3)
				header := history.Header{
					Nodes: s.Nodes, Clients: s.Clients, Keepers: -1, Entries: true, Watched: true,
					Bounds: history.Bounds{Cleanup: time.Second},
				}
				if !defect {
					header.Bounds.Cleanup = patience // however slow the machine is
				}
				var seen entryHistory
				w, err := p.Open(t.Context(), s, 1, &seen)
				if err != nil {
					t.Fatal(err)
				}
				defer closeStore(t, w)
				var found []checker.Finding
				decided := func() bool {
					found = seen.findings(header)
					return !slices.ContainsFunc(found, func(f checker.Finding) bool { return f.Verdict != want })
				}
				err = w.Run(t.Context(), func(client int) {
					if client != 1 {
						return
					}
					l, began := entryLock{world: w, record: w.Record, defective: defect}, time.Now()
					for i := 0; i < 3 || !decided() && time.Since(began) < patience; i++ {
						if err := l.use(fmt.Sprintf("token-%d", i), can.sessions && !can.connections); err != nil {
							t.Error(err)
						}
						_ = w.Runtime(1).Sleep(context.Background(), w.Runtime(1).Now(env.Monotonic).Add(time.Second))
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if !decided() {
					t.Errorf("want %v, have %v", want, found)
				}
			})
		}
	}
}
