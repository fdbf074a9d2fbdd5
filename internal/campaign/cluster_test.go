package campaign_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// cluster is three servers in this process, on loopback.
type cluster struct {
	options []*server.Options
	servers []*server.Server
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	const size = 3
	ports := freePorts(t, size)
	var routes []*url.URL
	for _, p := range ports {
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", p)})
	}
	c := &cluster{}
	for i := range size {
		c.options = append(c.options, &server.Options{
			ServerName: fmt.Sprintf("n%d", i+1), Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
			JetStream: true, StoreDir: t.TempDir(), Routes: routes,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]},
		})
		c.servers = append(c.servers, nil)
	}
	for i := range size {
		c.start(t, i)
	}
	t.Cleanup(func() {
		for i := range size {
			c.stop(i)
		}
	})
	return c
}

// freePorts returns ports that nobody listens on now.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// start starts a server, at the address that it had before.
func (c *cluster) start(t *testing.T, i int) {
	t.Helper()
	s, err := server.NewServer(c.options[i].Clone())
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	c.options[i].Port = s.Addr().(*net.TCPAddr).Port
	c.servers[i] = s
}

func (c *cluster) stop(i int) {
	c.servers[i].Shutdown()
	c.servers[i].WaitForShutdown()
}

// connect connects to the cluster, as soon as it has a leader.
func (c *cluster) connect(t *testing.T) *campaign.Engine {
	t.Helper()
	urls := make([]string, len(c.servers))
	for i, s := range c.servers {
		urls[i] = s.ClientURL()
	}
	for {
		e, err := campaign.Connect(t.Context(), campaign.Servers{URL: strings.Join(urls, ","), Replicas: 3})
		if err == nil {
			t.Cleanup(func() { _ = e.Close() })
			return e
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// leader returns the number of the server that leads the stream of shards.
func (c *cluster) leader(name string) int {
	for i, s := range c.servers {
		if s.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, "lockstorm-campaign-"+name) {
			return i
		}
	}
	return -1
}

// A cluster loses its leader in the middle of a campaign, and a worker vanishes: the results are the
// same as those of one process.
func TestClusterThatLosesItsLeader(t *testing.T) {
	const shards = 60
	servers := startCluster(t)
	e := servers.connect(t)
	e.SetAckWait(2 * time.Second)
	c := submit(t, e, spec("count", shards))
	var mu sync.Mutex
	made := 0
	w := worker("a", func(context.Context, int) error {
		mu.Lock()
		defer mu.Unlock()
		if made++; made == shards/3 {
			leader := servers.leader("count")
			servers.stop(max(leader, 0))
			t.Cleanup(func() {}) // the server stays down
		}
		return nil
	})
	p := finish(t, c, w)
	if p.Done != shards || len(p.Aside)+len(p.Conflicts) > 0 {
		t.Errorf("progress: %+v", p)
	}
	if got := whole(t, c); got != counted(shards) {
		t.Errorf("results:\n%s", got)
	}
}
