package rivals_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Law: calls of one client exclude each other as those of several do, and leave
// nothing, whether they are for the same resource or for others. (Those of a fenced
// lock are of one owner.)
func TestCallsOfOneClientExcludeEachOther(t *testing.T) {
	for _, name := range []string{"row", "zookeeper", "etcd", "chubby"} {
		t.Run(name, func(t *testing.T) { inBubble(t, func(t *testing.T) { manyCalls(t, name) }) })
	}
}

func manyCalls(t *testing.T, name string) {
	s := newStore()
	lock, _ := newLocker(t, name, s)
	resources := []string{"a", "b"}
	inside := make([]int, len(resources)) // guarded by the locks, as the race detector checks
	var calls sync.WaitGroup
	for i := range 6 {
		calls.Go(func() {
			for range 5 {
				h, err := lock(context.Background(), resources[i%2])
				if err != nil {
					t.Errorf("lock: %v", err)
					return
				}
				if inside[i%2]++; inside[i%2] != 1 {
					t.Errorf("%d calls of one client hold %q at once", inside[i%2], resources[i%2])
				}
				time.Sleep(10 * ms)
				inside[i%2]--
				if err := h.Release(context.Background()); err != nil {
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	calls.Wait()
	if left := s.left(); len(left) > 0 {
		t.Errorf("everything was released, and the store still has the entries %v", left)
	}
}

// Law: what a client's tries may have left does not keep others out for ever, though
// its heartbeats are answered and nothing else is.
func TestOnlyHeartbeatsAreAnswered(t *testing.T) {
	eachSessionLock(t, func(t *testing.T, name string) {
		s := newStore()
		s.fault = func(r env.StoreRequest) (f fault) {
			if r.Op == env.StoreCreate || r.Op == env.StoreList || r.Op == env.StoreDelete {
				f.mute = env.ErrTimeout
			}
			return f
		}
		lock, _ := newLocker(t, name, s)
		ctx, stop := context.WithCancel(context.Background())
		tried := make(chan struct{})
		go func() { defer close(tried); _, _ = lock(ctx, "r") }()
		first := map[uint64]time.Time{} // by revision: when the entry was seen first
		for range 80 {
			pass(100 * ms)
			for _, e := range s.left() {
				if first[e.Revision].IsZero() {
					first[e.Revision] = time.Now()
				}
				if age := time.Since(first[e.Revision]); age > 4*time.Second {
					t.Errorf("an entry is there for %v", age)
					s.breaks(nil)
				}
			}
		}
		if len(first) == 0 {
			t.Error("nothing was left")
		}
		stop()
		<-tried
	})
}
