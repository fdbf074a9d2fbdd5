package rivals_test

import (
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// On goroutines and over the commands of Redis, a lock's holder is alone, unless the lock relies on
// luck.
func TestOnGoroutines(t *testing.T) {
	for _, l := range oneKey {
		if l.name == "check-then-set" {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			server := miniredis.RunT(t)
			nodes, err := redisnode.New([]string{server.Addr()}, redisnode.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer nodes.Close()
			var clients sync.WaitGroup
			inside, rounds := 0, 0 // guarded by the lock, as the race detector checks
			for range 4 {
				c := rivals.Config{TTL: time.Hour, Allowance: time.Minute, NodeTimeout: 20 * time.Second, Margin: time.Minute, RetryMax: 2 * ms}
				m, err := l.make(c, rivals.Ports{Runtime: env.System(), Nodes: nodes, Observer: silent{}})
				if err != nil {
					t.Fatal(err)
				}
				clients.Go(func() {
					for range 10 {
						h, err := m.Lock(t.Context(), "r")
						if err != nil {
							t.Error(err)
							return
						}
						if inside++; inside != 1 {
							t.Errorf("%d clients are inside at once", inside)
						}
						rounds++
						inside--
						if err := h.Release(t.Context()); err != nil {
							t.Errorf("release: %v", err)
						}
					}
				})
			}
			clients.Wait()
			if rounds != 40 {
				t.Errorf("%d of 40 rounds came through the lock", rounds)
			}
		})
	}
}

type silent struct{}

func (silent) Observe(env.Event) {}
