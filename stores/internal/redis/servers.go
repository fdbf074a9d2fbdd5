package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Handlers lists how each kind of fault is injected.
func (k Store) Handlers() live.FaultHandlers {
	all := slices.Concat(live.Anywhere(), live.Outages())
	if k.Cluster {
		return slices.Concat(all, live.Stops(nemesis.ClientPauseFeature), live.Successions())
	}
	return slices.Concat(all, live.Stops())
}

// startTimeout bounds how long a process may take to answer, and the deployment to be ready.
// quitTimeout bounds a clean shutdown, in which a master waits for its replicas.
const (
	startTimeout = time.Minute
	quitTimeout  = 15 * time.Second
)

// Server is a member: a redis-server, and the Sentinel beside it, which shares its fate.
type Server struct {
	*child.Daemon
	sentinel *child.Daemon // nil: there is none
	link     *wire.Link    // where the other members find the redis-server
	file     *aof.File
	all      *deployment
}

// Addr returns the host:port where clients find the redis-server.
func (s *Server) Addr() string { return s.Ports[0].Addr() }

// processes returns the redis-server, and the Sentinel if there is one.
func (s *Server) processes() []*child.Daemon {
	if s.sentinel == nil {
		return []*child.Daemon{s.Daemon}
	}
	return []*child.Daemon{s.Daemon, s.sentinel}
}

// Kill implements [live.Crasher]. What the server had sent to other members and they had not
// received is lost.
func (s *Server) Kill() {
	s.link.Replies.Impose(killRule, nemesis.HoldAll()) // until the process is gone
	s.end((*child.Daemon).Kill)
	s.link.Replies.Lift(killRule)
}

// Quit implements [live.Crasher]. A master waits until its replicas have everything.
func (s *Server) Quit() { s.end((*child.Daemon).Quit) }

func (s *Server) end(how func(*child.Daemon)) {
	for _, p := range s.processes() {
		how(p)
	}
	s.link.Redirect(s.Addr()) // closes its connections
}

// Start implements [live.Crasher]. The redis-server is what its configuration file says, which
// Sentinel may have changed.
func (s *Server) Start(ctx context.Context) error { return startAll(ctx, s.processes()) }

// Stop implements [live.Stopper].
func (s *Server) Stop() error { return s.each((*child.Daemon).Stop) }

// Continue implements [live.Stopper].
func (s *Server) Continue() error { return s.each((*child.Daemon).Continue) }

func (s *Server) each(do func(*child.Daemon) error) (err error) {
	for _, p := range s.processes() {
		err = errors.Join(err, do(p))
	}
	return err
}

// startAll starts processes at once, and returns when all of them answer.
func startAll(ctx context.Context, processes []*child.Daemon) error {
	var all errgroup.Group
	for _, p := range processes {
		all.Go(func() error { return p.Start(ctx) })
	}
	return all.Wait()
}

// deployment is the members and their links among each other.
type deployment struct {
	kind    Store
	setting nemesis.Setting
	binary  string
	group   *child.Group
	links   *wire.Network // a link to each member, over which all others reach it
	servers []*Server     // by node, from 0
}

// Open starts a member for each node of the setting, of which the first is the master, and returns
// when a failover is possible. After an error nothing is left behind. The seed draws the
// replication lag.
func (k Store) Open(ctx context.Context, s nemesis.Setting, seed uint64) (live.Fleet, error) {
	if s.Store != nil {
		k.Asynchronous, k.Acknowledged = s.Store.Asynchronous, s.Store.Acknowledged
	}
	if s.Nodes < k.fewest() {
		return live.Fleet{}, fmt.Errorf("%d nodes: %s needs at least %d to fail over", s.Nodes, k.product(), k.fewest())
	}
	binary, err := redisserver.FindServer(k.Binary)
	if err != nil {
		return live.Fleet{}, err
	}
	d := &deployment{kind: k, setting: s, binary: binary}
	if err := d.open(ctx, seed); err != nil {
		_ = d.close()
		return live.Fleet{}, err
	}
	fleet := live.NewFleet(d.servers, d.group.Died(), d.close)
	fleet.Store = k
	return fleet, nil
}

// installed returns an error that says what to install if there is no redis-server.
func (k Store) installed() error {
	_, err := redisserver.FindServer(k.Binary)
	return err
}

// Version returns the version of redis-server, or "" if there is none.
func (k Store) Version(ctx context.Context) string {
	binary, err := redisserver.FindServer(k.Binary)
	if err != nil {
		return ""
	}
	return redisserver.ServerVersion(ctx, binary)
}

func (d *deployment) close() (err error) {
	if d.group != nil {
		err = d.group.Close()
	}
	if d.links != nil {
		d.links.Close()
	}
	return err
}

func (d *deployment) open(ctx context.Context, seed uint64) (err error) {
	if d.group, err = child.NewGroup(); err != nil {
		return err
	}
	var addrs []string
	for node := 1; node <= d.setting.Nodes; node++ {
		s, err := d.add(node)
		if err != nil {
			return err
		}
		d.servers, addrs = append(d.servers, s), append(addrs, s.Addr())
	}
	if d.links, err = wire.Open(1, addrs); err != nil {
		return err
	}
	for i, s := range d.servers {
		s.link = d.links.Link(1, i+1)
	}
	start := d.startSentinel
	if d.kind.Cluster {
		start = d.startCluster
	}
	if err := start(ctx); err != nil {
		return err
	}
	d.delayReplication(seed)
	return nil
}

// delayReplication makes everything that a member sends to others late by the setting's commit
// time. Messages of the cluster bus are not.
func (d *deployment) delayReplication(seed uint64) {
	if d.setting.Store == nil || d.setting.Store.Commit.Max == 0 {
		return
	}
	lag := (&nemesis.Latency{Add: d.setting.Store.Commit}).Rule(live.Draws(seed, "replication"))
	for _, s := range d.servers {
		s.link.Replies.Impose(replicationRule, lag)
	}
}

// The numbers of rules on the links. They are not faults of a plan.
const (
	replicationRule = iota
	killRule
)

// add adds a redis-server to the group. It does not start it.
func (d *deployment) add(node int) (*Server, error) {
	const ports = 2 // the second is that of the cluster bus
	p, err := d.process(fmt.Sprintf("node-%d", node), ports)
	if err != nil {
		return nil, err
	}
	s := &Server{Daemon: p, file: aof.In(p.Dir), all: d}
	keeps := d.setting.Persistence != nemesis.Nothing && d.setting.Persistence != ""
	options := redisserver.PersistenceArgs(keeps, d.setting.Persistence == nemesis.EverySecond)
	p.Command = func() (*exec.Cmd, error) {
		return exec.Command(d.binary, append([]string{redisFile}, options...)...), s.file.Prepare(keeps)
	}
	return s, nil
}

// process adds a process to the group that answers PING on its first port.
func (d *deployment) process(name string, ports int) (*child.Daemon, error) {
	p, err := d.group.Add(name, ports)
	if err != nil {
		return nil, err
	}
	p.Name = filepath.Base(d.binary) + " (" + name + ") on " + p.Ports[0].Addr()
	p.StartTimeout, p.QuitTimeout, p.QuitSignal = startTimeout, quitTimeout, syscall.SIGTERM
	p.Await = func(ctx context.Context, run *child.Run) error {
		return child.Await(ctx, p.Name, run, redisserver.Operator(p.Ports[0].Addr()).Answers)
	}
	return p, nil
}

// startServers starts the redis-servers with their configuration, and returns when each replica
// follows the master.
func (d *deployment) startServers(ctx context.Context, config func(*Server) []string) error {
	var all []*child.Daemon
	for _, s := range d.servers {
		lines := append([]string{
			"bind 127.0.0.1",
			fmt.Sprintf("port %d", s.Ports[0].Number()),
			"replica-announce-ip 127.0.0.1",
			fmt.Sprintf("replica-announce-port %s", s.announced()),
			"repl-diskless-sync-delay 0",
		}, config(s)...)
		if err := write(s.Daemon, redisFile, lines); err != nil {
			return err
		}
		all = append(all, s.Daemon)
	}
	if err := startAll(ctx, all); err != nil {
		return err
	}
	replicas := d.kind.copies(len(d.servers)) - 1
	return await(ctx, func(ctx context.Context) error {
		role, err := d.servers[0].Do(ctx, "ROLE") // "master", offset, replicas that are in sync
		if err != nil {
			return err
		}
		if fields, is := role.([]any); is && len(fields) == 3 {
			if list, is := fields[2].([]any); is && len(list) == replicas {
				return nil
			}
		}
		return fmt.Errorf("%s is to have %d replicas, but its role is %v", d.servers[0].Name, replicas, role)
	})
}

// The configuration files, each in the directory of its process.
const (
	redisFile    = "redis.conf"
	sentinelFile = "sentinel.conf"
)

// write writes a file into the directory of a process.
func write(p *child.Daemon, name string, lines []string) error {
	return os.WriteFile(filepath.Join(p.Dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// announced is the port on which the other members reach the redis-server. Replies of members
// name it, too.
func (s *Server) announced() string {
	_, port, _ := net.SplitHostPort(s.link.Addr())
	return port
}

// Do implements [live.Commander]: it asks the redis-server, past the clients' links.
func (s *Server) Do(ctx context.Context, command ...string) (any, error) {
	return redisserver.Operator(s.Addr()).Do(ctx, command...)
}

// await waits until check returns nil, and returns its last error if that takes too long.
func await(ctx context.Context, check func(context.Context) error) error {
	const pollInterval = 10 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (waited for %v)", last, startTimeout)
		case <-time.After(pollInterval):
		}
	}
}
