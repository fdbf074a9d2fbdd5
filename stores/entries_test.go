//go:build linux

package stores

import (
	"context"
	"fmt"
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

// entrySink passes a history to a checker, and knows up to when all changes are recorded.
type entrySink struct {
	*checker.Checker
	mu                   sync.Mutex
	began, released, end history.Time
	looks                int // of the watch in a row that were prompt, since the last release or report
	promptly             time.Duration
}

func (s *entrySink) Record(e *history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case history.Acquire:
		if s.began == 0 {
			s.began = e.Time
		}
	case history.Released, history.EntrySet: // which a late watch reports after the release
		s.released, s.looks = e.Time, 0
	case history.EntriesSeen:
		s.looked(e)
	}
	s.Checker.Record(e)
}

// looked counts a look of the watch.
func (s *entrySink) looked(e *history.Event) {
	switch s.end = e.Sent; {
	case e.Time.Sub(e.Sent) > s.promptly:
		s.looks = 0
	case e.Sent >= s.released:
		s.looks++
	}
}

// promptly is how long a look may take: a bit less than a tenth of the bound, because ten looks in a row
// have to be as fast before a key counts as kept.
func promptly(bound time.Duration) time.Duration { return bound / 12 }

// saw reports whether the watch has seen the store for so long after the last release or report, and for longer
// than all requests have taken: the bound of an entry grows with the time of its request. And it has to see
// the store so often and promptly that clean-up can be judged.
func (s *entrySink) saw(after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	const enough = 20
	return s.looks >= enough && s.end > s.released.Add(after)+2*(s.released-s.began)
}

// A lock whose release does not delete its entry is found on every real store that is watched: by clean-up, and
// because its release does not tell the truth. The sound lock holds.
func TestStoresRecordEntries(t *testing.T) {
	const bound = time.Second
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
					Bounds: history.Bounds{Cleanup: bound},
				}
				if !defect {
					header.Bounds.Cleanup = patience // however slow the machine is
				}
				sink := &entrySink{Checker: checker.New(header), promptly: promptly(bound)}
				w, err := p.Open(t.Context(), s, 1, sink)
				if err != nil {
					t.Fatal(err)
				}
				defer closeStore(t, w)
				err = w.Run(t.Context(), func(client int) {
					if client != 1 {
						return
					}
					l := entryLock{world: w, record: w.Record, defective: defect}
					for i := range 3 {
						if err := l.use(fmt.Sprintf("token-%d", i), can.sessions && !can.connections); err != nil {
							t.Error(err)
						}
					}
					for !sink.saw(bound) {
						if w.Runtime(1).Sleep(context.Background(), w.Runtime(1).Now(env.Monotonic).Add(10*ms)) != nil {
							return
						}
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range sink.Finish().Findings {
					if (f.Property == checker.Cleanup || f.Property == checker.Contract) && f.Verdict != want {
						t.Errorf("%v: %v, not %v: %v", f.Property, f.Verdict, want, f)
					}
				}
			})
		}
	}
}
