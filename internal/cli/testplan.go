package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/scenarios"
)

// pace limits how many runs are made at a time. It halves that when the machine was too slow for a run. Of
// those that wait the one with the lowest number is next, because results are shown in this order.
type pace struct {
	mu      sync.Mutex
	changed *sync.Cond
	limit   int
	running int
	waiting []int
}

func newPace(limit int) *pace {
	p := &pace{limit: limit}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// begin waits for a place for the run of a number, or until ctx ends, and returns the limit of that time.
func (p *pace) begin(ctx context.Context, number int) (limit int) {
	defer context.AfterFunc(ctx, p.changed.Broadcast)()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, number)
	for (p.running >= p.limit || slices.Min(p.waiting) < number) && ctx.Err() == nil {
		p.changed.Wait()
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(n int) bool { return n == number })
	p.running++
	p.changed.Broadcast()
	return p.limit
}

// end frees the place of a run that began under a limit. Of several that were too slow under the same
// one only the first lowers it.
func (p *pace) end(limit int, slow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	if slow && p.limit == limit {
		p.limit = max(1, limit/2)
	}
	p.changed.Broadcast()
}

// usualRunsPerCore is how many runs a core has room for by default: they mostly wait.
const usualRunsPerCore = 4

// startTime is about how long the servers and the programs of a run take to start and to end.
const startTime = time.Second

// estimate returns about how long a run takes: as long as its work under the lock, one piece after the
// other, or as its busiest client, and as its longest fault.
func estimate(s scenarios.Scenario) time.Duration {
	var serial, alone, fault time.Duration
	for _, c := range s.Clients {
		work, think := (c.Work.Min+c.Work.Max)/2, (c.Think.Min+c.Think.Max)/2
		rounds := time.Duration(c.Rounds)
		serial += rounds * work
		alone = max(alone, rounds*(work+think))
	}
	for _, f := range s.Plan {
		if f.End != nil && f.End.After != nil {
			fault = max(fault, *f.End.After)
		}
	}
	return startTime + max(serial*5/4, alone) + fault
}

// estimated returns about how long all runs take.
func (t *lockTest) estimated() time.Duration {
	var all, longest time.Duration
	for _, s := range t.storms {
		one := estimate(s.scenario)
		longest = max(longest, one)
		all += time.Duration(len(s.seeds)) * one
	}
	return max(all/time.Duration(t.jobs), longest)
}

// fits reports whether there is time for a run.
func (t *lockTest) fits(s scenarios.Scenario) bool {
	return t.ends.IsZero() || time.Until(t.ends) >= estimate(s)
}

// seedsOf is runs of a storm.
type seedsOf struct {
	storm string
	seeds []uint64
}
