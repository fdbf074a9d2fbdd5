package campaign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/disk"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
)

// The sizes of a storm.
const (
	stormServers = 3
	stormWorkers = 3
	stormShards  = 40

	// The process that follows the campaign is a client, too.
	follower = stormWorkers + 1
)

// stormWait is how long a worker may be silent in a storm: long enough for an election.
const stormWait = 2 * time.Second

// The variables by which this test binary is started as a server or as a worker of a storm.
const (
	asServer      = "LOCKSTORM_TEST_SERVER"
	asStormWorker = "LOCKSTORM_TEST_WORKER"
)

// storm is a campaign on servers and workers that are processes, with links that can be cut.
type storm struct {
	group   *child.Group
	servers []*stormServer
	workers []*child.Daemon
	links   *wire.Network // of each worker and the follower to each server

	mu   sync.Mutex
	runs map[string]*child.Run // the last of each server and worker
}

// stormServer is a server of a storm.
type stormServer struct {
	*child.Daemon
	disk *disk.Disk // nil: it cannot lose power
	data string
}

// serverConfig is what a process needs to be a server.
type serverConfig struct {
	Name, Dir       string
	Client, Cluster int
	Routes          []int // ports of all
}

// newStorm returns a storm without servers and workers.
func newStorm(t *testing.T) *storm {
	t.Helper()
	group, err := child.NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &storm{group: group, runs: map[string]*child.Run{}}
	t.Cleanup(func() { // before the group removes the logs
		if t.Failed() {
			s.logs(t)
		}
	})
	return s
}

// logs prints the ends of the logs of all servers and workers.
func (s *storm) logs(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.runs)) {
		t.Logf("%s:\n%s", name, s.runs[name].Log())
	}
}

// add adds a server or a worker to the group. Nobody waits for it.
func (s *storm) add(t *testing.T, kind string, number, ports int) *child.Daemon {
	t.Helper()
	d, err := s.group.Add(fmt.Sprintf("%s-%d", kind, number), ports)
	if err != nil {
		t.Fatal(err)
	}
	d.Name, d.StartTimeout = fmt.Sprintf("%s %d", kind, number), time.Minute
	d.Await = func(_ context.Context, run *child.Run) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.runs[d.Name] = run
		return nil
	}
	return d
}

func startStorm(t *testing.T, lossy bool) *storm {
	t.Helper()
	s := newStorm(t)
	s.startServers(t, stormServers, lossy)
	addrs := make([]string, stormServers)
	for i, one := range s.servers {
		addrs[i] = one.Ports[0].Addr()
	}
	links, err := wire.Open(stormWorkers+1, addrs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(links.Close)
	s.links = links
	for i := range stormWorkers {
		s.addWorker(t, i+1)
	}
	return s
}

// startServers starts so many servers. They are ready some time later.
func (s *storm) startServers(t *testing.T, n int, lossy bool) {
	t.Helper()
	for i := range n {
		s.addServer(t, i+1, lossy)
	}
	for _, one := range s.servers {
		one.Command = s.serverCommand(one)
	}
	for _, one := range s.servers {
		if err := one.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *storm) addServer(t *testing.T, number int, lossy bool) {
	t.Helper()
	d := s.add(t, "server", number, 2)
	one := &stormServer{Daemon: d}
	var err error
	if one.disk, one.data, err = disk.Attach(lossy, s.group, d); err != nil {
		t.Fatal(err)
	}
	s.servers = append(s.servers, one)
}

// serverCommand returns the command that starts a server. It is called at each start.
func (s *storm) serverCommand(one *stormServer) func() (*exec.Cmd, error) {
	return func() (*exec.Cmd, error) {
		c := serverConfig{Name: strings.ReplaceAll(one.Name, " ", "-"), Dir: filepath.Join(one.data, "jetstream"), Client: one.Ports[0].Number(), Cluster: one.Ports[1].Number()}
		for _, other := range s.servers {
			c.Routes = append(c.Routes, other.Ports[1].Number())
		}
		return selfAs(asServer, c)
	}
}

// selfAs returns the command that starts this test binary with a value in a variable.
func selfAs(variable string, value any) (*exec.Cmd, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self) //nolint:gosec,noctx // the test itself, which its group ends
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	return cmd, nil
}

// serveStorm is the main function of a server.
func serveStorm(config string) error {
	var c serverConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	o := &server.Options{
		ServerName: c.Name, Host: "127.0.0.1", Port: c.Client, NoSigs: true, JetStream: true, StoreDir: c.Dir,
	}
	if len(c.Routes) > 1 {
		o.Cluster = server.ClusterOpts{Name: "storm", Host: "127.0.0.1", Port: c.Cluster, NoAdvertise: true}
		for _, port := range c.Routes { // also its own, which it leaves out
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
		}
	}
	one, err := server.NewServer(o)
	if err != nil {
		return err
	}
	one.ConfigureLogger()
	one.Start()
	one.WaitForShutdown()
	return errors.New("the server has ended")
}

// stormWorker is what a process needs to be a worker.
type stormWorker struct {
	Name string
	URL  string
}

// url returns the URL at which a client finds the servers.
func (s *storm) url(client int) string {
	var list []string
	for node := range s.servers {
		list = append(list, "nats://"+s.links.Link(client, node+1).Addr())
	}
	return strings.Join(list, ",")
}

func (s *storm) addWorker(t *testing.T, number int) {
	t.Helper()
	d := s.add(t, "worker", number, 0)
	d.Command = func() (*exec.Cmd, error) {
		return selfAs(asStormWorker, stormWorker{Name: d.Name, URL: s.url(number)})
	}
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.workers = append(s.workers, d)
}

// workInStorm is the main function of a worker: it works until it is killed.
func workInStorm(config string) error {
	var w stormWorker
	if err := json.Unmarshal([]byte(config), &w); err != nil {
		return err
	}
	ctx := context.Background()
	e := connectInStorm(ctx, w.URL, stormServers)
	for {
		c, err := e.OpenRunning(ctx, "storm")
		if err == nil {
			err = c.Work(ctx, worker(w.Name, takeTime))
		}
		if err != nil {
			log.Print(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// takeTime takes as long as a shard of a storm takes, which depends on its number.
func takeTime(ctx context.Context, shard int) error {
	t := time.NewTimer(time.Duration(50+shard*37%200) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connectInStorm connects to servers, however long it takes.
func connectInStorm(ctx context.Context, at string, replicas int) *campaign.Engine {
	for {
		e, err := campaign.Connect(ctx, campaign.Servers{URL: at, Replicas: replicas})
		if err == nil {
			e.SetAckWait(stormWait)
			return e
		}
		time.Sleep(200 * time.Millisecond)
	}
}
