package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// prices is what locks cost on one backend.
type prices struct {
	locks   []scenarios.Contender
	backend runner.Backend
	runs    int // of each measurement
	tasks   []task
	found   report.Tallies
	floors  []floor
	syncs   map[string]float64 // for each grant, by lock
	refused []refusal
	failed  []error // of what stands beside the locks: the rest is printed all the same
	stopped bool
}

// floor is how fast a store does the least by which a lock can be taken.
type floor struct {
	product string
	creates [][]time.Duration // how long they took, by the number of clients
}

func newPrice() *cobra.Command {
	var locks []string
	var runs int
	var format string
	cmd := &cobra.Command{
		Use:   "price",
		Short: "Measure what locks cost on real servers: time to acquire, throughput, messages, outage",
		Long: fmt.Sprintf(`Measure what locks cost on real servers of this machine, one after another in one run:
%v clients acquire and release locks of their own for %v each, and one client does so
while the first node, the leader of a store, is down. Servers, proxies and clients share the cores
of this machine, so compare the locks, and do not take the figures for those of a data centre.
"lockstorm run price-N-LOCK", "… price-outage-LOCK" and "… price-syncs-LOCK" repeat a measurement.`, scenarios.PriceClients, scenarios.PriceTime),
		Example: `  lockstorm price --locks redlock,single-node,etcd
  lockstorm price --runs 5 --format markdown`,
		Args: takes(0, 0),
	}
	backend := backendFlags(cmd)
	if err := cmd.Flags().Set("backend", "process"); err != nil {
		panic(err)
	}
	cmd.Flags().Lookup("backend").DefValue = "process"
	cmd.Flags().IntVar(&runs, "runs", 3, "runs of each measurement")
	cmd.Flags().StringSliceVar(&locks, "locks", nil, "the locks of compare whose price is measured (default: all)")
	cmd.Flags().StringVar(&format, "format", asText, "text or markdown")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if runs < 1 {
			return fmt.Errorf("--runs %d: want at least 1", runs)
		}
		if err := checkFormat(format, asText, asMarkdown); err != nil {
			return err
		}
		c, err := compared(locks, "")
		if err != nil {
			return err
		}
		p := prices{locks: c.Locks, runs: runs}
		if p.backend, err = backend.backend(); err != nil {
			return err
		}
		p.backend = p.backend.WithoutWatch()
		if err := p.run(cmd.Context(), cmd.ErrOrStderr()); err != nil {
			return err
		}
		return p.print(cmd.OutOrStdout(), format)
	}
	return cmd
}

// run measures, one run at a time.
func (p *prices) run(ctx context.Context, problems io.Writer) (err error) {
	s := suite{what: "price", backend: p.backend, sideBySide: 1}
	for _, l := range p.locks {
		for _, n := range scenarios.PriceClients {
			s.tasks = append(s.tasks, task{Scenario: scenarios.Price(l, n), First: 1, Runs: p.runs})
		}
		s.tasks = append(s.tasks, task{Scenario: scenarios.PriceOfOutage(l), First: 1, Runs: p.runs})
	}
	p.tasks = s.tasks
	p.found, p.refused, err = s.run(ctx, problems)
	if err == nil {
		err = p.runFloors(ctx, problems)
	}
	if err == nil {
		err = p.countSyncs(ctx, problems)
	}
	p.stopped = ctx.Err() != nil
	if p.stopped {
		err = nil
	}
	return err
}

// runFloors measures the stores of the locks that reply when a change is replicated, each once.
func (p *prices) runFloors(ctx context.Context, problems io.Writer) error {
	type store struct {
		runner.Backend
		setting nemesis.Setting
	}
	stores := map[string]store{}
	for _, l := range p.locks {
		if l.Store == nil || l.Store.Forgets() {
			continue
		}
		s := scenarios.Price(l, 1)
		if e, err := runner.Prepare(p.backend, s); err == nil && e.Backend().Floor != nil {
			stores[e.Backend().Product] = store{e.Backend(), s.Setting}
		}
	}
	bar := terminal.NewBar(problems, "floors", int64(len(stores)*len(scenarios.PriceClients)*p.runs), terminal.Pieces)
	defer bar.Done()
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		on := stores[name]
		f := floor{product: name}
		for _, clients := range scenarios.PriceClients {
			var all []time.Duration
			for range p.runs {
				took, err := on.Floor(ctx, on.setting, clients, scenarios.PriceTime)
				if err != nil {
					if ctx.Err() != nil {
						return err
					}
					p.failed = append(p.failed, fmt.Errorf("floor of %s: %w", name, err))
				}
				all = append(all, took...)
				bar.Step()
			}
			slices.Sort(all)
			f.creates = append(f.creates, all)
		}
		p.floors = append(p.floors, f)
	}
	return nil
}

// countSyncs counts how often members of a store sync their disks for a grant, once for each lock in a
// store whose members can have such disks here.
func (p *prices) countSyncs(ctx context.Context, problems io.Writer) error {
	p.syncs = map[string]float64{}
	bar := terminal.NewBar(problems, "syncs", int64(len(p.locks)), terminal.Pieces)
	defer bar.Done()
	for _, l := range p.locks {
		e, err := runner.Prepare(p.backend, scenarios.PriceOfSyncs(l))
		if err == nil && e.Backend().Product != "" {
			var r runner.Result
			if r, err = e.Run(ctx, 1, nil); ctx.Err() != nil {
				return err
			}
			if err != nil {
				p.failed = append(p.failed, fmt.Errorf("syncs of %s: %w", l.Name, err))
			}
			if grants := r.Report.Measurements.Grants; grants > 0 {
				p.syncs[l.Name] = float64(r.Syncs) / float64(grants)
			}
		}
		bar.Step()
	}
	return nil
}

// print prints the prices.
func (p prices) print(out io.Writer, format string) error {
	to := &page{out: out}
	if format == asMarkdown {
		to.say("# What locks cost\n\nMade by \"make price\" with %s. All servers, proxies and clients run on one machine: compare the locks, and do not take the figures for those of a data centre.", madeWith(versionsOf(p.backend, p.tasks)))
		to.table(p.table())
	} else {
		terminal.Fit(out)
		printTable(to, p.table())
	}
	to.say("%s", strings.TrimSpace(priceLegend))
	for _, r := range p.refused {
		if strings.HasPrefix(r.scenario, "price-outage-") { // one line for each lock
			to.say("- cannot be run: %s: %v", strings.TrimPrefix(r.scenario, "price-outage-"), r.why)
		}
	}
	for _, err := range p.failed {
		to.say("- failed: %v", err)
	}
	if p.stopped {
		to.say("%s", stoppedLine)
	}
	if to.err != nil {
		return to.err
	}
	if p.stopped {
		return exitFor(runner.Undecided)
	}
	return nil
}

const priceLegend = `
- N clients: grants per second of all clients together, and the median and the 99th percentile of the time to acquire. Each client has a lock of its own, so nobody waits for anybody.
- requests: messages that a client sends for a grant, its release and what keeps its session alive.
- Stores are watched meanwhile, as in every run: a query every 10 or 20 ms. The keys of Redis nodes are not: their watch would cost redlock a sixth of its grants.
- syncs: how often all members of the store together sync their disks for a grant, its release and what keeps its session alive, with one client, on disks that count. Members of ZooKeeper sync only in this measurement; the floor and the other columns are without. NATS syncs every two minutes.
- outage: the longest time without a grant of any run while the first node, the leader of a store, is down for 3 s.
- floor: creations of a key without a session or a deadline, if it does not exist, and their deletions, in a store that replicates them before it replies: no lock on it can be cheaper. On Redis that is single-node.
- keeps: the properties that no run of any trial of "lockstorm compare" has violated (V1 lease, V2 section, V3 effect exclusion, V4 fence order, L1 deadlock freedom, L2 fault tolerance, L3 clean-up, C contract).
`

// table has a line for each lock that was measured.
func (p prices) table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"lock"}}
	for _, n := range scenarios.PriceClients {
		t.Head = append(t.Head, fmt.Sprintf("%s: grants/s", textfmt.Count(n, "client")), "p50", "p99")
	}
	t.Head = append(t.Head, "requests", "syncs", "outage", "keeps")
	for _, l := range p.locks {
		if cells, measured := p.cells(l); measured {
			t.Add(cells...)
		}
	}
	for _, f := range p.floors {
		t.Add(f.cells(p.runs)...)
	}
	return t
}

func (f floor) cells(runs int) []string {
	cells := []string{"floor of " + f.product}
	seconds := float64(runs) * scenarios.PriceTime.Seconds()
	for _, took := range f.creates {
		if len(took) == 0 {
			cells = append(cells, "–", "–", "–")
			continue
		}
		quantile := func(q float64) string { return textfmt.Duration(took[int(q*float64(len(took)-1))]) }
		cells = append(cells, fmt.Sprintf("%.0f", float64(len(took))/seconds), quantile(0.5), quantile(0.99))
	}
	return append(cells, "2.00", "–", "–", "–")
}

// cells are those of one lock; a measurement that was stopped has none.
func (p prices) cells(l scenarios.Contender) (cells []string, measured bool) {
	cells = []string{l.Name}
	requests := "–"
	for i, n := range scenarios.PriceClients {
		tally, ran := p.found[scenarios.Price(l, n).Name]
		measured = measured || ran
		if !ran {
			cells = append(cells, "–", "–", "–")
			continue
		}
		m := tally.Measured.All()
		seconds := float64(tally.Measured.Runs()) * scenarios.PriceTime.Seconds()
		cells = append(cells, fmt.Sprintf("%.0f", float64(m.Grants)/seconds), textfmt.Duration(m.AcquireP50), textfmt.Duration(m.AcquireP99))
		if i == 0 {
			requests = textfmt.Each(m.Requests, m.Grants)
		}
	}
	outage := "–"
	if tally, ran := p.found[scenarios.PriceOfOutage(l).Name]; ran {
		outage = textfmt.Duration(tally.Measured.All().LongestOutage.Round(time.Millisecond))
	}
	syncs := "–"
	if n, counted := p.syncs[l.Name]; counted {
		syncs = fmt.Sprintf("%.2f", n)
	}
	return append(cells, requests, syncs, outage, keeps(l)), measured
}

// keeps lists the properties that a lock is expected to keep in all trials.
func keeps(l scenarios.Contender) string {
	var codes []string
	for _, p := range checker.Properties() {
		if l.Expect[p] == checker.Holds {
			codes = append(codes, p.Code())
		}
	}
	return strings.Join(codes, " ")
}
