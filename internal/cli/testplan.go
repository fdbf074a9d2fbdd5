package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/program"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// testOptions are the flags of test.
type testOptions struct {
	config   external.Config
	server   string             // the path of redis-server; empty: the one in PATH
	promises []checker.Property // nil: those of a lock with its capabilities

	storms []string // names, or files; empty: all
	seed   uint64
	runs   int
	jobs   int           // the most runs at a time; 0: as many as the cores have room for
	budget time.Duration // 0: no limit
	out    string
	again  string // directory of a stored run
	format string

	given []string // the flags that were given and change a run that is repeated
}

// storedInRun are the flags of test whose values a stored run has, or that do not change a run.
var storedInRun = []string{"nodes", "ttl", "storm", "seed", "again", "runs", "parallel", "budget", "out", "format", colourFlag}

// drawnPlans is how many plans the storm drawn generates.
const drawnPlans = 5

// lockTest is a lock and the runs that it is put through.
type lockTest struct {
	testOptions
	program.Lock
	backend runner.Backend
	storms  []stormRuns
	refused []string // why default storms are left out
	pace    *pace
	ends    time.Time // of the budget; zero: never
}

// stormRuns is the runs of a storm.
type stormRuns struct {
	scenario scenarios.Scenario
	seeds    []uint64
}

// prepare checks the options, and that each storm can be run.
func (o testOptions) prepare(command []string) (*lockTest, error) {
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, err
	}
	if err := writableDir("--out", o.out); err != nil {
		return nil, err
	}
	t := &lockTest{testOptions: o, backend: processes(o.server)}
	t.backend.Dialable = true
	if t.config.Name == "" {
		t.config.Name = strings.Join(command, " ")
	}
	t.Command = command
	if err := t.choose(); err != nil {
		return nil, err
	}
	t.jobs = cmp.Or(t.jobs, usualRunsPerCore*runtime.GOMAXPROCS(0))
	t.pace = newPace(t.jobs)
	for _, s := range t.storms {
		if _, err := runner.PrepareExternal(t.backend, s.scenario, t.External()); err != nil {
			return nil, fmt.Errorf("storm %s: %w", s.scenario.Name, err)
		}
	}
	return t, nil
}

// choose fills the configuration and chooses the runs.
func (t *lockTest) choose() error {
	if t.again != "" {
		stored, err := results.Load(t.again)
		if err != nil {
			return err
		}
		t.restore(stored)
	}
	t.config.Clocks = t.External().WallClock
	t.config = t.config.Filled()
	t.Config = t.config
	if err := inFlags(t.config.Validate()); err != nil {
		return err
	}
	if t.again != "" {
		return nil
	}
	list, err := t.selected()
	if err != nil {
		return err
	}
	for _, s := range list {
		runs := s.Runs
		if runs == 0 {
			runs = t.runs
		}
		t.add(t.config.Scenario(s), t.seed, runs)
	}
	return nil
}

// add adds runs of a scenario with a seed and those that follow. After the largest comes 0.
func (t *lockTest) add(s scenarios.Scenario, seed uint64, runs int) {
	seeds := make([]uint64, runs)
	for i := range seeds {
		seeds[i] = seed + uint64(i)
	}
	t.storms = append(t.storms, stormRuns{s, seeds})
}

// restore takes from a stored run what its plan was made for, and the run itself.
func (t *lockTest) restore(stored results.Run) {
	s := stored.Scenario.Scenario
	t.config.Nodes, t.config.Clients, t.config.TTL = s.Nodes, len(s.Clients), s.Lock.TTL
	t.config.Persistence, t.config.Guard = s.Persistence, s.Guard
	s.Lock.Kind = t.config.Name
	t.storms = []stormRuns{{s, slices.Repeat([]uint64{stored.Seed}, t.runs)}}
}

// selected returns the storms of --storm, or the default ones.
func (t *lockTest) selected() ([]scenarios.Storm, error) {
	all, refused := t.config.Storms(t.backend.Ability, drawnPlans)
	if len(t.testOptions.storms) == 0 {
		t.refused = refused
		return all, nil
	}
	var list []scenarios.Storm
	for _, name := range t.testOptions.storms {
		if i := slices.IndexFunc(all, func(s scenarios.Storm) bool { return s.Name == name }); i >= 0 {
			list = append(list, all[i])
			continue
		}
		if !strings.HasSuffix(name, ".yaml") {
			return nil, fmt.Errorf("--storm: unknown storm %q: want a YAML file, or one of %s", name, stormNames(all))
		}
		s, err := scenarios.LoadStorm(name)
		if err != nil {
			return nil, fmt.Errorf("--storm: %w", err)
		}
		list = append(list, s)
	}
	return list, inFlags(external.ValidateStorms(list))
}

func stormNames(list []scenarios.Storm) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// inFlags returns an error of a field of the configuration as one of its flag.
func inFlags(err error) error {
	var f *nemesis.FieldError
	if !errors.As(err, &f) {
		return err
	}
	if strings.HasPrefix(f.Path, "Storms") {
		return fmt.Errorf("--storm: %w", f.Err)
	}
	flag := strings.ToLower(f.Path)
	if !slices.Contains(storedInRun, flag) {
		return fmt.Errorf("--config: %s: %w", flag, f.Err)
	}
	return fmt.Errorf("--%s %w", flag, f.Err)
}

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

// fits reports whether there is time for a run. Long work ends early if the lock claims no more than a TTL, so a run
// may take half of what it is estimated to.
func (t *lockTest) fits(s scenarios.Scenario) bool {
	return t.ends.IsZero() || time.Until(t.ends) >= estimate(s)/2
}

// seedsOf is runs of a storm.
type seedsOf struct {
	storm string
	seeds []uint64
}
