//go:build linux

package speed

import (
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
)

var serversOn = flag.Int("servers-on", -1, "the processor, from 0, on which all redis-servers and proxies run; below 0: any")

func TestMain(m *testing.M) {
	if !ServeProxy() {
		m.Run()
	}
}

// openFive starts five servers.
func openFive(t testing.TB) (servers []*redisserver.Server, addrs []string) {
	servers = servertest.Open(t, redisserver.Options{Nodes: 5}).Servers()
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
		if *serversOn >= 0 {
			if err := unix.SchedSetaffinity(s.Pid(), theirs()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return servers, addrs
}

// theirs is where servers and proxies run.
func theirs() *unix.CPUSet {
	on := new(unix.CPUSet)
	on.Set(*serversOn)
	return on
}

// openWay opens a network. Its proxy runs where the servers do.
func openWay(t testing.TB, n Network, addrs []string) *Way {
	way, err := n.Open(addrs, startTheirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := way.Close(); err != nil {
			t.Error(err)
		}
	})
	return way
}

func strike(t testing.TB, way *Way) {
	if err := way.Strike(); err != nil {
		t.Fatal(err)
	}
}

// startTheirs starts a process where the servers run: it inherits that from the thread that
// starts it.
func startTheirs(cmd *exec.Cmd) (err error) {
	if *serversOn < 0 {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ours := new(unix.CPUSet)
	if err := unix.SchedGetaffinity(0, ours); err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, theirs()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.SchedSetaffinity(0, ours)) }()
	return cmd.Start()
}

// BenchmarkAcquireRelease takes all locks in turn for each network and number of clients,
// so that what the machine does meanwhile befalls all alike.
func BenchmarkAcquireRelease(b *testing.B) {
	servers, addrs := openFive(b)
	for _, network := range Networks() {
		for _, clients := range []int{1, 8, 64} {
			for _, s := range Subjects() {
				if !s.On(network) {
					continue
				}
				b.Run(fmt.Sprintf("net=%s/clients=%d/lock=%s", network.Name, clients, s.Name), func(b *testing.B) {
					bench{network, clients, s, servers, addrs}.run(b)
				})
			}
		}
	}
}

// bench is one line of the benchmark.
type bench struct {
	network Network
	clients int
	subject Subject
	servers []*redisserver.Server
	addrs   []string
}

// settling is how long what goes on in the background may take, where nothing is in trouble.
const settling = 20 * time.Millisecond

func (c bench) run(b *testing.B) {
	way := openWay(b, c.network, c.addrs)
	lock, err := c.subject.Open(way.Addrs())
	if err != nil {
		b.Fatal(err)
	}
	defer lock.Close()
	crowd := NewCrowd(lock, c.clients)
	crowd.Cycle(4 * c.clients) // connections are made, scripts known
	strike(b, way)
	crowd.Cycle(c.clients) // the first of each client, which finds out
	time.Sleep(settling)
	if err := Reset(b.Context(), c.servers); err != nil {
		b.Fatal(err)
	}

	b.ReportAllocs()
	b.ResetTimer()
	tally := crowd.Cycle(b.N)
	b.StopTimer()

	time.Sleep(settling)
	counts, err := Count(b.Context(), c.servers)
	if err != nil {
		b.Fatal(err)
	}
	report(b, tally, counts)
}

func report(b *testing.B, tally Tally, counts Counts) {
	b.ReportMetric(float64(tally.Failed)/float64(b.N), "failed/op")
	granted := float64(len(tally.Took))
	b.ReportMetric(granted/b.Elapsed().Seconds(), "grants/s")
	if granted == 0 {
		return // what is said of a grant is said of none
	}
	b.ReportMetric(float64(tally.Quantile(0.5))/1e3, "p50-us")
	b.ReportMetric(float64(tally.Quantile(0.99))/1e3, "p99-us")
	b.ReportMetric(float64(counts.Bytes)/granted, "wire-B/grant")
	b.ReportMetric(float64(counts.Commands)/granted, "cmds/grant")
}
