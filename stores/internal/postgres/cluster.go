package postgres

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// cluster is the servers and their failover manager.
type cluster struct {
	setting  nemesis.Store
	group    *child.Group
	binaries string // the directory
	owner    *owner
	preload  string        // libfaketime
	streams  *wire.Network // of the replication: a link for each server
	servers  []*Server     // by node, from 0
	created  bool          // the first primary has been started

	over  context.Context // ends with the cluster
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu        sync.Mutex
	tell      func(history.Event, env.Instant) // nil: nobody listens
	election  *nemesis.Table
	random    func() uint64
	elections uint64  // how many are complete
	electing  bool    // one is due or under way
	primary   *Server // nil: there is none
	promoted  bool    // it has been promoted, and standbys can follow it
	last      *Server // the last primary before it
	settled   bool    // a majority has had what the primary had when it was promoted

	apart *nemesis.PeerPartition // which links a fault has cut; nil: none
}

// Open starts a primary, which is node 1, and a standby for every other node of the setting.
// It returns when all of them serve. After an error nothing is left behind.
func Open(ctx context.Context, s nemesis.Setting, seed uint64) (live.Fleet, error) {
	c := &cluster{random: live.Draws(seed, "elections of the store"), settled: true}
	if s.Store != nil {
		c.setting = *s.Store
	}
	c.election = c.setting.Election.Table()
	c.over, c.end = context.WithCancel(context.Background())
	if err := c.open(ctx, s, seed); err != nil {
		_ = c.close()
		return live.Fleet{}, err
	}
	fleet := live.NewFleet(c.servers, c.group.Died(), c.close)
	fleet.Store, fleet.Watch, fleet.Peers = Store{}, c.watch, c
	fleet.Keys = func(tell func(history.Event, env.Instant)) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tell = tell
	}
	return fleet, nil
}

// open creates the servers and starts them.
func (c *cluster) open(ctx context.Context, s nemesis.Setting, seed uint64) (err error) {
	if c.binaries, err = find(); err != nil {
		return err
	}
	if c.owner, err = findOwner(); err != nil {
		return err
	}
	clocks := s.Plan.AsksFor(nemesis.NodeClockFeature)
	if clocks {
		if c.preload, err = redisserver.FindFakeTime(); err != nil {
			return err
		}
	}
	if c.group, err = child.NewGroup(); err != nil {
		return err
	}
	if err := os.Chmod(c.group.Dir(), 0o711); err != nil { // for the owner of the servers
		return err
	}
	for node := 1; node <= s.Nodes; node++ {
		server, err := c.newServer(node, clocks)
		if err != nil {
			return err
		}
		c.servers = append(c.servers, server)
	}
	if err := c.connect(seed); err != nil {
		return err
	}
	return c.startAll(ctx)
}

// connect makes the links of the replication, which lead to the first primary. With
// asynchronous replication they delay what the primary sends.
func (c *cluster) connect(seed uint64) (err error) {
	first := make([]string, len(c.servers))
	for i := range first {
		first[i] = c.servers[0].Addr()
	}
	if c.streams, err = wire.Open(1, first); err != nil {
		return err
	}
	lag := (&nemesis.Latency{Add: c.setting.Commit}).Rule(live.Draws(seed, "replication"))
	for i, s := range c.servers {
		s.link = c.streams.Link(1, i+1)
		if c.setting.Asynchronous {
			s.link.Replies.Impose(0, lag)
		}
	}
	return nil
}

// startAll starts the primary and its standbys, and waits until these are in sync.
func (c *cluster) startAll(ctx context.Context) error {
	first := c.servers[0]
	if err := first.initialize(ctx); err != nil {
		return err
	}
	if err := first.Daemon.Start(ctx); err != nil {
		return err
	}
	c.created = true
	if err := first.setUp(ctx); err != nil {
		return err
	}
	var all errgroup.Group
	for _, s := range c.servers[1:] {
		all.Go(func() error { return s.run(ctx, first) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	c.mu.Lock()
	c.primary, c.last, c.promoted, first.leads = first, first, true, true
	for _, s := range c.servers {
		s.state, s.serves = up, true
	}
	c.mu.Unlock()
	if !c.inSync(first, func() bool { return ctx.Err() == nil }, "0/0", len(c.servers)-1) {
		return fmt.Errorf("the standbys of %s are not in sync: %w", first.Name, context.Cause(ctx))
	}
	return nil
}

// confirming is how many standbys make a majority together with the primary.
func (c *cluster) confirming() int { return len(c.servers) / 2 }

// synchronous returns the standbys that a commit waits for, as a setting of PostgreSQL, or
// "" if there are none.
func (c *cluster) synchronous() string {
	if c.setting.Asynchronous || c.confirming() == 0 {
		return ""
	}
	names := make([]string, len(c.servers))
	for i, s := range c.servers {
		names[i] = s.name()
	}
	return fmt.Sprintf("ANY %d (%s)", c.confirming(), strings.Join(names, ", "))
}

// durability returns the settings that say when a commit is answered. The commit time is the longest
// for which WAL stays in memory if nobody waits for it.
func (c *cluster) durability() []string {
	commit := map[nemesis.Durability]string{nemesis.RemoteWrite: "remote_write", nemesis.Off: "off"}[c.setting.Durability]
	settings := []string{"synchronous_commit=" + cmp.Or(commit, "on")}
	if names := c.synchronous(); names != "" {
		settings = append(settings, "synchronous_standby_names="+names)
	}
	if c.setting.Durability == nemesis.Off {
		delay := min(max(c.setting.Commit.Max, time.Millisecond), 10*time.Second)
		settings = append(settings, fmt.Sprintf("wal_writer_delay=%dms", delay.Milliseconds()))
	}
	return settings
}

// inSync waits, as long as it is worth it, until standbys of the primary have its WAL up to
// a position.
func (c *cluster) inSync(primary *Server, worth func() bool, lsn string, standbys int) bool {
	sql := fmt.Sprintf("select count(*) >= %d from pg_stat_replication where application_name like 'node%%' and state = 'streaming' and flush_lsn >= '%s'", standbys, lsn)
	var enough bool
	return c.poll(primary, worth, sql, &enough, func() bool { return enough })
}

// close kills all servers and removes their files.
func (c *cluster) close() error {
	c.mu.Lock()
	c.end()
	c.mu.Unlock()
	c.tasks.Wait()
	var err error
	if c.group != nil {
		for _, s := range c.servers {
			s.kill() // with its shared memory, which is not below the group's directory
		}
		err = c.group.Close()
	}
	if c.streams != nil {
		c.streams.Close()
		c.streams = nil
	}
	return err
}
