package campaign_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

var (
	figureFile = flag.String("figures", "", "a file for the tables of TestFigures, which then measures for minutes")
)

// bench is an engine on which campaigns are measured.
type bench struct {
	name    string
	engine  *campaign.Engine
	servers []int // process IDs; empty: the server is in this process
}

// benchOf starts servers, each a process; 0: one in this process.
func benchOf(t *testing.T, servers int) bench {
	t.Helper()
	if servers == 0 {
		return bench{"in this process", embedded(t, t.TempDir()), nil}
	}
	s := newStorm(t)
	s.startServers(t, servers, false)
	b := bench{name: fmt.Sprintf("%d", servers)}
	var urls []string
	for _, one := range s.servers {
		b.servers = append(b.servers, one.Pid())
		urls = append(urls, "nats://"+one.Ports[0].Addr())
	}
	b.engine = connectInStorm(t.Context(), strings.Join(urls, ","), servers)
	t.Cleanup(func() { _ = b.engine.Close() })
	return b
}

// sleeping is a runner whose shards take some time, and nothing of this machine.
func sleeping(d time.Duration) func(context.Context, campaign.Spec) (campaign.Runner, error) {
	return func(context.Context, campaign.Spec) (campaign.Runner, error) {
		return counting{func(ctx context.Context, _ int) error {
			if d > 0 {
				time.Sleep(d)
			}
			return ctx.Err()
		}}, nil
	}
}

// cost is what a campaign has cost.
type cost struct {
	shards, slots int
	wall          time.Duration
	servers, self time.Duration // processor time
}

func (c cost) rate() float64 { return float64(c.shards) / c.wall.Seconds() }

func (c cost) perShard(d time.Duration) float64 {
	return d.Seconds() * 1000 / float64(c.shards)
}

// measure runs a campaign of shards that take so long.
func (b bench) measure(t *testing.T, slots, shards int, shard time.Duration) cost {
	t.Helper()
	name := fmt.Sprintf("figures-%d-%d-%s", slots, shards, shard)
	job := spec(strings.ToLower(name), shards)
	job.Limits.Time += 2 * shard
	c := submit(t, b.engine, job)
	w := worker("a", nil)
	w.Slots, w.Start = slots, sleeping(shard)
	began, servers, self := time.Now(), cpuTime(t, b.servers...), cpuTime(t, os.Getpid())
	p := finish(t, c, w)
	r := cost{shards, slots, time.Since(began), cpuTime(t, b.servers...) - servers, cpuTime(t, os.Getpid()) - self}
	if p.Done != shards {
		t.Errorf("%s: %d of %d shards are done", name, p.Done, shards)
	}
	if err := b.engine.Remove(t.Context(), c.Spec.Name); err != nil {
		t.Error(err)
	}
	return r
}

// cpuTime returns the processor time that processes have had.
func cpuTime(t *testing.T, pids ...int) (sum time.Duration) {
	t.Helper()
	for _, pid := range pids {
		p, err := procfs.NewProc(pid)
		if err != nil {
			t.Fatal(err)
		}
		stat, err := p.Stat()
		if err != nil {
			t.Fatal(err)
		}
		sum += seconds(stat.CPUTime())
	}
	return sum
}

// waits returns how long shards wait in a queue for idle workers, in ascending order.
func (b bench) waits(t *testing.T, rounds int) (list []time.Duration) {
	t.Helper()
	const slots = 8
	c := submit(t, b.engine, spec("waits", rounds*slots))
	ctx, stop := context.WithCancel(t.Context())
	taken := make(chan time.Duration, rounds*slots)
	w := worker("a", nil)
	w.Slots, w.Start = slots, sleeping(0)
	w.Took = func(r campaign.Record) { taken <- r.Waited }
	worked := keepWorking(ctx, c, w)
	for round := range rounds {
		time.Sleep(300 * time.Millisecond) // until all slots wait
		var shards []int
		for i := range slots {
			shards = append(shards, round*slots+i)
		}
		if err := c.QueueAll(ctx, build, shards); err != nil {
			t.Fatal(err)
		}
		for range slots {
			list = append(list, <-taken)
		}
	}
	stop()
	if err := <-worked; err != nil {
		t.Error(err)
	}
	if err := b.engine.Remove(t.Context(), c.Spec.Name); err != nil {
		t.Error(err)
	}
	slices.Sort(list)
	return list
}

// figureSizes are the sizes of what TestFigures measures.
type figureSizes struct {
	servers []int           // 0: in this process
	slots   []int           // with empty shards; the model is fitted to the first and the last
	shards  int             // that are empty
	lengths []time.Duration // of shards that are not
	many    int             // slots for these
	rounds  int             // of waiting
}

// TestFigures measures what the engine costs per shard, fits a model to it, and compares the two. By default
// it only shows that this works.
func TestFigures(t *testing.T) {
	sizes := figureSizes{[]int{0}, []int{1, 4}, 40, []time.Duration{10 * time.Millisecond}, 4, 1}
	out := io.Discard
	if *figureFile != "" {
		sizes = figureSizes{[]int{0, 1, 3}, []int{1, 2, 4, 8, 32, 128}, 3000, []time.Duration{time.Second, 10 * time.Second, time.Minute}, 64, 20}
		f, err := os.Create(*figureFile)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }() // what is written is seen by whoever reads it
		out = f
	}
	var models []engineModel
	costs := section(out, "Empty shards", "servers", "slots", "shards/s", "model", "ms per shard of a slot", "processor ms per shard: workers", "of all servers")
	waits := section(out, "", "servers", "median ms", "99 % ms")
	var last bench
	for _, n := range sizes.servers {
		last = benchOf(t, n)
		var measured []cost
		for _, slots := range sizes.slots {
			measured = append(measured, last.measure(t, slots, min(sizes.shards, 300*slots), 0))
		}
		m := fitted(measured[0].rate(), measured[len(measured)-1].rate())
		models = append(models, m)
		for _, c := range measured {
			costs.row("%s|%d|%.0f|%.0f|%.2f|%.2f|%s", last.name, c.slots, c.rate(), m.throughput(c.slots, 0), 1000*float64(c.slots)/c.rate(), c.perShard(c.self), perServers(c, last))
		}
		list := last.waits(t, sizes.rounds)
		waits.row("%s|%.1f|%.1f", last.name, list[len(list)/2].Seconds()*1000, list[len(list)*99/100].Seconds()*1000)
	}
	costs.print()
	_, _ = fmt.Fprint(out, "\nHow long a shard waits in the queue while workers are idle:\n\n")
	waits.print()

	m := models[len(models)-1]
	long := section(out, fmt.Sprintf("Shards that take their time, on %s servers", last.name), "slots", "a shard takes", "efficiency", "model")
	for _, d := range sizes.lengths {
		c := last.measure(t, sizes.many, 3*sizes.many, d)
		long.row("%d|%s|%.1f %%|%.1f %%", sizes.many, d, 100*c.rate()*d.Seconds()/float64(sizes.many), 100*m.efficiency(sizes.many, d))
	}
	long.print()

	past := section(out, fmt.Sprintf("Extrapolated, %s servers, machines of 32 cores", last.name), "machines", "slots", "1 s", "10 s", "60 s", "shards/s at 10 s")
	for _, machines := range []int{1, 10, 100, 1000} {
		slots := 32 * machines
		past.row("%d|%d|%.1f %%|%.1f %%|%.1f %%|%.0f", machines, slots, 100*m.efficiency(slots, time.Second), 100*m.efficiency(slots, 10*time.Second), 100*m.efficiency(slots, time.Minute), m.throughput(slots, 10*time.Second))
	}
	past.print()
}

// perServers returns the processor time of the servers per shard, in milliseconds, if it can be told apart
// from that of the workers.
func perServers(c cost, b bench) string {
	if len(b.servers) == 0 {
		return "with the workers"
	}
	return fmt.Sprintf("%.2f", c.perShard(c.servers))
}

// table is a table of a page.
type table struct {
	out   io.Writer
	title string
	head  []string
	rows  []string
}

func section(out io.Writer, title string, head ...string) *table {
	return &table{out: out, title: title, head: head}
}

// row adds a row, whose cells are divided by |.
func (b *table) row(format string, values ...any) {
	b.rows = append(b.rows, "| "+strings.ReplaceAll(fmt.Sprintf(format, values...), "|", " | ")+" |")
}

func (b *table) print() {
	if b.title != "" {
		_, _ = fmt.Fprintf(b.out, "\n### %s\n\n", b.title)
	}
	_, _ = fmt.Fprintf(b.out, "| %s |\n|%s\n%s\n", strings.Join(b.head, " | "), strings.Repeat("---:|", len(b.head)), strings.Join(b.rows, "\n"))
}
