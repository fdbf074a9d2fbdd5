//go:build linux

package speed

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// BenchmarkAcquireRelease takes all locks in turn for each network and number of clients, so that
// what the machine does meanwhile affects all alike. A cycle is an acquire and a release of a
// resource that no other cycle uses.
func BenchmarkAcquireRelease(b *testing.B) {
	var addrs []string
	for _, s := range servertest.Open(b, redisserver.Options{Nodes: 5}).Servers() {
		addrs = append(addrs, s.Addr())
	}
	for _, network := range []string{"direct", "silent-node"} {
		for _, clients := range []int{1, 8, 64} {
			for _, s := range Subjects() {
				if network != "direct" && !s.Quorum {
					continue
				}
				b.Run(fmt.Sprintf("net=%s/clients=%d/lock=%s", network, clients, s.Name), func(b *testing.B) {
					nodes, silence := addrs, func() {}
					if network != "direct" {
						nodes, silence = behindProxy(b, addrs)
					}
					lock, err := s.Open(nodes)
					if err != nil {
						b.Fatal(err)
					}
					defer lock.Close()
					c := crowd{lock: lock, clients: clients, name: fmt.Sprintf("%s-%d", b.Name(), time.Now().UnixNano())}
					c.cycle(4 * clients) // connections are made, scripts known
					silence()
					c.cycle(clients) // the first of each client finds out
					b.ReportAllocs()
					b.ResetTimer()
					took, failed := c.cycle(b.N)
					b.StopTimer()
					b.ReportMetric(float64(failed)/float64(b.N), "failed/op")
					if len(took) > 0 {
						b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "grants/s")
						b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-us")
						b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-us")
					}
				})
			}
		}
	}
}

// behindProxy puts the last node behind a proxy, and returns the addresses and what makes the node
// silent: nothing reaches it, and nothing comes back.
func behindProxy(b *testing.B, addrs []string) (nodes []string, silence func()) {
	last := len(addrs) - 1
	way, err := wire.Open(1, addrs[last:])
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { way.Close() })
	link := way.Link(1, 1)
	return append(addrs[:last:last], link.Addr()), func() {
		link.Requests.Impose(1, nemesis.HoldAll())
		link.Replies.Impose(1, nemesis.HoldAll())
	}
}

// crowd is clients that acquire and release at the same time.
type crowd struct {
	lock    Lock
	clients int
	name    string       // of all resources
	turns   atomic.Int64 // cycles that have begun, ever
}

// cycle makes so many cycles, divided among the clients. It returns the durations of those in which the
// lock was granted, the shortest first, and the number of the others.
func (c *crowd) cycle(cycles int) (took []time.Duration, failed int) {
	last := c.turns.Load() + int64(cycles)
	var mu sync.Mutex
	var all sync.WaitGroup
	for range c.clients {
		all.Go(func() {
			mine, wrong := make([]time.Duration, 0, 2*cycles/c.clients+1), 0
			for turn := c.turns.Add(1); turn <= last; turn = c.turns.Add(1) {
				began := time.Now()
				release, err := c.lock.Acquire(context.Background(), fmt.Sprintf("%s-%d", c.name, turn))
				if err == nil {
					err = release(context.Background())
				}
				if err != nil {
					wrong++
					continue
				}
				mine = append(mine, time.Since(began))
			}
			mu.Lock()
			took, failed = append(took, mine...), failed+wrong
			mu.Unlock()
		})
	}
	all.Wait()
	c.turns.Store(last)
	slices.Sort(took)
	return took, failed
}

// Every lock that is measured is one: a second client acquires it only after the first has released it.
func TestSubjectsExclude(t *testing.T) {
	var addrs []string
	for _, s := range servertest.Open(t, redisserver.Options{Nodes: 5}).Servers() {
		addrs = append(addrs, s.Addr())
	}
	for _, s := range Subjects() {
		t.Run(s.Name, func(t *testing.T) {
			first, second := open(t, s, addrs), open(t, s, addrs)
			release := acquire(t, first)
			if _, err := second.Acquire(t.Context(), "invoice"); err == nil {
				t.Error("two have acquired it at once")
			}
			if err := release(t.Context()); err != nil {
				t.Errorf("release: %v", err)
			}
			if err := acquire(t, second)(t.Context()); err != nil {
				t.Errorf("release by the second: %v", err)
			}
		})
	}
}

func open(t *testing.T, s Subject, addrs []string) Lock {
	t.Helper()
	lock, err := s.Open(addrs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	})
	return lock
}

// acquire acquires it as soon as it can be had.
func acquire(t *testing.T, by Lock) (release func(context.Context) error) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		release, err := by.Acquire(t.Context(), "invoice")
		if err == nil {
			return release
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
