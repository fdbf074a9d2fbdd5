package speed

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Crowd is clients that acquire and release at the same time, each time another resource.
type Crowd struct {
	lock    Lock
	clients int
	name    string       // of all resources, which no other crowd uses
	turns   atomic.Int64 // that have begun, ever: the number of the last resource
}

// NewCrowd returns so many clients of a lock.
func NewCrowd(lock Lock, clients int) *Crowd {
	return &Crowd{lock: lock, clients: clients, name: rand.Text()[:8]}
}

// Tally is what came of a number of cycles.
type Tally struct {
	Took   []time.Duration // of each cycle in which the lock was granted, the shortest first
	Failed int             // cycles in which it was not, or could not be released
	Err    error           // of one of these
}

// Cycle makes so many cycles of acquire and release, shared out among the clients.
func (c *Crowd) Cycle(cycles int) Tally {
	last := c.turns.Load() + int64(cycles)
	parts := make([]Tally, c.clients)
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { c.run(&parts[i], last, cycles/c.clients) })
	}
	all.Wait()
	c.turns.Store(last)
	return join(parts)
}

// run is one client, until the last cycle has begun.
func (c *Crowd) run(part *Tally, last int64, expected int) {
	part.Took = make([]time.Duration, 0, expected+expected/2+1)
	for {
		turn := c.turns.Add(1)
		if turn > last {
			return
		}
		began := time.Now()
		if err := c.cycle(fmt.Sprintf("%s-%d", c.name, turn)); err != nil {
			part.Failed, part.Err = part.Failed+1, err
			continue
		}
		part.Took = append(part.Took, time.Since(began))
	}
}

func (c *Crowd) cycle(resource string) error {
	release, err := c.lock.Acquire(context.Background(), resource)
	if err != nil {
		return err
	}
	return release(context.Background())
}

func join(parts []Tally) (all Tally) {
	for _, p := range parts {
		all.Took = append(all.Took, p.Took...)
		all.Failed += p.Failed
		if p.Err != nil {
			all.Err = p.Err
		}
	}
	slices.Sort(all.Took)
	return all
}

// Quantile returns how long the quickest share of the cycles took at the most; 0 if there
// were none.
func (t Tally) Quantile(share float64) time.Duration {
	if len(t.Took) == 0 {
		return 0
	}
	return t.Took[min(int(share*float64(len(t.Took))), len(t.Took)-1)]
}
