package address

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Backend opens worlds on servers at addresses.
type Backend struct {
	// Addrs are the servers, as host:port. A setting with fewer nodes uses the first ones.
	Addrs []string

	// Connect says how to connect to them. Open sets Prefix, ServerNames and DefaultTTL.
	Connect redisnode.Options

	// WatchKeys says that the changes of the run's keys are recorded, as a watch reports them. The
	// watch is a replica to the servers.
	WatchKeys bool
}

// KeyPrefix begins all keys of all runs. The user needs access to all keys with this
// prefix.
const KeyPrefix = "lockstorm:"

// KeyGrace is how much longer than a run may last its keys may live.
const KeyGrace = time.Minute

// handlers lists how each kind of fault is injected.
var handlers = live.Anywhere()

// Name returns the backend's name in commands and stored runs.
func (Backend) Name() string { return "addr" }

// Faults lists the kinds of faults that its worlds can inject.
func (Backend) Faults() []nemesis.Kind { return handlers.Kinds() }

// Features lists the features of those kinds that they support.
func (Backend) Features() []nemesis.Feature { return handlers.Features() }

// Open checks the servers and opens a world on them. The setting must be valid and must not
// need other faults than [Backend.Faults] and [Backend.Features]; its latency, persistence
// and replication are ignored. Events of the history go to sink one at a time. ctx bounds
// the start only.
//
// The error names each unfit server and what is wrong with it, see package preflight.
func (b Backend) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	if len(b.Addrs) < s.Nodes {
		return nil, fmt.Errorf("%d nodes on %d servers", s.Nodes, len(b.Addrs))
	}
	connect, err := b.Connect.Resolved()
	if err != nil {
		return nil, err
	}
	connect.Prefix = prefix()
	connect.DefaultTTL = (s.Horizon + KeyGrace).Truncate(time.Millisecond)
	conns, err := b.check(ctx, b.Addrs[:s.Nodes], connect)
	if err != nil {
		return nil, err
	}
	if err := b.checkWatch(ctx, b.Addrs[:s.Nodes], connect); err != nil {
		for _, conn := range conns {
			_ = conn.Close()
		}
		return nil, err
	}
	monitor := startMonitor(conns, connect)
	connect.ServerNames = nil
	fleet := live.Fleet{Died: monitor.died, Close: monitor.close}
	for _, addr := range b.Addrs[:s.Nodes] {
		host, _, _ := net.SplitHostPort(addr)
		connect.ServerNames = append(connect.ServerNames, host) // the servers' certificates are for the hosts
		fleet.Servers = append(fleet.Servers, server(addr))
	}
	fleet.Connect = connect
	if b.WatchKeys {
		watched := fleet.Connect
		fleet.WatchKeys = func(log live.EntryLog) live.KeyWatch {
			return keywatch.New(keywatch.Options{Connect: watched}, log)
		}
	}
	return live.Open(s, seed, sink, fleet, handlers)
}

// check checks servers, including the commands that only this package uses.
func (b Backend) check(ctx context.Context, addrs []string, connect redisnode.Options) ([]*preflight.Conn, error) {
	key := connect.Prefix + "swept"
	return preflight.OpenAll(ctx, addrs, connect, scanCommand("0", connect.Prefix), []string{"UNLINK", key})
}

// checkWatch returns an error that names the servers whose keys cannot be watched, if they are to be.
func (b Backend) checkWatch(ctx context.Context, addrs []string, connect redisnode.Options) error {
	if !b.WatchKeys {
		return nil
	}
	errs := make([]error, len(addrs))
	var checks sync.WaitGroup
	for i, addr := range addrs {
		checks.Go(func() { errs[i] = keywatch.Check(ctx, addr, connect) })
	}
	checks.Wait()
	return errors.Join(errs...)
}

// Servers checks all servers as Open does and returns those that are fit.
func (b Backend) Servers(ctx context.Context) (found []preflight.Server) {
	connect, err := b.Connect.Resolved()
	if err != nil {
		return nil
	}
	connect.Prefix = prefix()
	for _, addr := range b.Addrs {
		if conns, err := b.check(ctx, []string{addr}, connect); err == nil {
			found = append(found, conns[0].Server)
			_ = conns[0].Close()
		}
	}
	return found
}

// prefix returns the key prefix of a new run. It does not depend on the seed, because two
// runs of one seed may be under way at a time.
func prefix() string { return KeyPrefix + strings.ToLower(rand.Text()[:10]) + ":" }

// server is the address of a server. Nothing can be done to it but connect.
type server string

// Addr implements [live.Server].
func (s server) Addr() string { return string(s) }
