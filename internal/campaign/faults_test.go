package campaign_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/disk"
	"github.com/lockstorm/lockstorm/nemesis"
)

// stormFault is a fault of a storm: it begins At after the start, and lasts For.
type stormFault struct {
	Kind    string
	At, For time.Duration
	Server  int // from 1; 0: all of them
	Client  int // from 1: a worker, or the follower; 0: none
}

func (f stormFault) String() string {
	who := ""
	if f.Client > 0 {
		who += fmt.Sprintf(" client %d", f.Client)
	}
	switch {
	case f.Server > 0:
		who += fmt.Sprintf(" server %d", f.Server)
	case f.Kind != killWorker && f.Kind != stopWorker:
		who += " all servers"
	}
	return fmt.Sprintf("%s%s at %s for %s", f.Kind, who, f.At, f.For)
}

// The kinds of faults of a storm.
const (
	killServer = "kill"
	stopServer = "stop"
	losePower  = "lose-power"
	fillDisk   = "fill-disk"
	killWorker = "kill-worker"
	stopWorker = "stop-worker"
	partition  = "partition"
	delay      = "delay"
)

// drawFaults draws the plan of a storm. Without lossy disks no server loses power.
func drawFaults(seed uint64, lossy bool) (plan []stormFault) {
	random := rand.New(rand.NewPCG(seed, 0))
	kinds := []string{killServer, killServer, stopServer, killWorker, killWorker, stopWorker, partition, partition, delay}
	if lossy {
		kinds = append(kinds, losePower, losePower, fillDisk)
	}
	for range 3 + random.IntN(4) {
		f := stormFault{
			Kind: kinds[random.IntN(len(kinds))],
			At:   time.Duration(random.IntN(3000)) * time.Millisecond,
			For:  time.Duration(200+random.IntN(5000)) * time.Millisecond,
		}
		switch f.Kind {
		case killWorker, stopWorker:
			f.Client = 1 + random.IntN(stormWorkers)
		case partition, delay:
			f.Client, f.Server = 1+random.IntN(follower), random.IntN(stormServers+1)
		default:
			f.Server = random.IntN(stormServers + 1)
		}
		plan = append(plan, f)
	}
	slices.SortFunc(plan, func(a, b stormFault) int { return int(a.At - b.At) })
	return plan
}

func planText(plan []stormFault) string {
	var list []string
	for _, f := range plan {
		list = append(list, f.String())
	}
	return strings.Join(list, "; ")
}

// carryOut carries out a plan, and returns when all faults have ended. Servers and workers that are down
// for two reasons come back when the last one is over.
func (s *storm) carryOut(ctx context.Context, plan []stormFault) error {
	var group sync.WaitGroup
	down := &downs{of: map[*child.Daemon]int{}}
	errs := make([]error, len(plan))
	for i, f := range plan {
		group.Go(func() {
			time.Sleep(f.At)
			end := s.begin(ctx, i+1, f, down)
			time.Sleep(f.For)
			errs[i] = end()
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", plan[i], err)
		}
	}
	return nil
}

// begin begins a fault, and returns what ends it.
func (s *storm) begin(ctx context.Context, number int, f stormFault, down *downs) (end func() error) {
	switch f.Kind {
	case killWorker:
		return down.kill(ctx, s.workers[f.Client-1], nil)
	case stopWorker:
		return stop(s.workers[f.Client-1])
	case partition, delay:
		return s.disturb(number, f)
	}
	var ends []func() error
	for i, one := range s.servers {
		if f.Server > 0 && f.Server != i+1 {
			continue
		}
		switch f.Kind {
		case killServer:
			ends = append(ends, down.kill(ctx, one.Daemon, nil))
		case losePower:
			ends = append(ends, down.kill(ctx, one.Daemon, one.disk))
		case stopServer:
			ends = append(ends, stop(one.Daemon))
		case fillDisk:
			one.disk.Fill(true)
			ends = append(ends, func() error {
				one.disk.Fill(false)
				return down.kill(ctx, one.Daemon, nil)() // NATS serves no JetStream after that until it is restarted
			})
		}
	}
	return func() (err error) {
		for _, end := range ends {
			if e := end(); e != nil {
				err = e
			}
		}
		return err
	}
}

// stop makes a process stand still.
func stop(d *child.Daemon) (end func() error) {
	_ = d.Stop() // or it is down
	return func() error {
		_ = d.Continue() // likewise
		return nil
	}
}

// disturb holds back or delays what goes over links.
func (s *storm) disturb(number int, f stormFault) (end func() error) {
	rule := nemesis.HoldAll()
	if f.Kind == delay {
		rule = nemesis.Rule{Delay: func(nemesis.Message) time.Duration { return 100 * time.Millisecond }}
	}
	for node := range s.servers {
		if f.Server == 0 || f.Server == node+1 {
			l := s.links.Link(f.Client, node+1)
			l.Requests.Impose(number, rule)
			l.Replies.Impose(number, rule)
		}
	}
	return func() error {
		for node := range s.servers {
			l := s.links.Link(f.Client, node+1)
			l.Requests.Lift(number)
			l.Replies.Lift(number)
		}
		return nil
	}
}

// downs counts for how many reasons a process is down.
type downs struct {
	mu sync.Mutex
	of map[*child.Daemon]int
}

// kill kills a process, and cuts the power of its disk if it has one.
func (d *downs) kill(ctx context.Context, process *child.Daemon, power *disk.Disk) (end func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of[process]++
	process.Kill()
	var err error
	if power != nil {
		err = power.Cut()
	}
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.of[process]--; d.of[process] > 0 || err != nil {
			return err
		}
		return process.Start(ctx)
	}
}
