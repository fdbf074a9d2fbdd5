package address

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Backend makes worlds of servers at addresses.
type Backend struct {
	// Addrs are the servers, host:port each. A setting with fewer nodes has the first of
	// them.
	Addrs []string

	// Connect is how they are talked to. Its Prefix, ServerNames and DefaultTTL are
	// ours.
	Connect redisnode.Options
}

// Family is what all keys of all runs begin with. A user of the servers needs the right
// to keys like this, followed by anything.
const Family = "lockstorm:"

// Afterlife is how much longer than a run may last its keys may.
const Afterlife = time.Minute

// handlers lists how each kind of fault is injected.
var handlers = live.Anywhere()

// Name is what a user calls this backend.
func (Backend) Name() string { return "addr" }

// Faults lists the kinds of faults that its worlds can carry out.
func (Backend) Faults() []nemesis.Kind { return handlers.Kinds() }

// Features lists the features that they have for them.
func (Backend) Features() []nemesis.Feature { return handlers.Features() }

// Open looks at the servers and makes the network of a setting, which must be valid and
// ask for no other faults than [Backend.Faults] and [Backend.Features]; the setting's
// latency, persistence and replication are ignored. The world's history goes to sink, one
// event at a time. ctx bounds the start only.
//
// The error says of each server that is unfit what is wrong with it, see package vetting.
func (b Backend) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	if len(b.Addrs) < s.Nodes {
		return nil, fmt.Errorf("%d nodes on %d servers", s.Nodes, len(b.Addrs))
	}
	connect, err := b.Connect.Resolved()
	if err != nil {
		return nil, err
	}
	connect.Prefix = prefix()
	connect.DefaultTTL = (s.Horizon + Afterlife).Truncate(time.Millisecond)
	conns, err := b.look(ctx, b.Addrs[:s.Nodes], connect)
	if err != nil {
		return nil, err
	}
	monitor := watch(conns, connect)
	connect.ServerNames = hosts(b.Addrs[:s.Nodes])
	fleet := live.Fleet{Connect: connect, Died: monitor.died, Close: monitor.close}
	for _, addr := range b.Addrs[:s.Nodes] {
		fleet.Servers = append(fleet.Servers, server(addr))
	}
	return live.Open(s, seed, sink, fleet, handlers)
}

// look has the servers looked at, also for what only we ask of them.
func (b Backend) look(ctx context.Context, addrs []string, connect redisnode.Options) ([]*preflight.Conn, error) {
	key := connect.Prefix + "swept"
	return preflight.All(ctx, addrs, connect, scan("0", connect.Prefix), []string{"UNLINK", key})
}

// Servers looks at all servers, as Open does, and returns what those tell of themselves
// that are fit.
func (b Backend) Servers(ctx context.Context) (found []preflight.Server) {
	connect, err := b.Connect.Resolved()
	if err != nil {
		return nil
	}
	connect.Prefix = prefix()
	for _, addr := range b.Addrs {
		if conns, err := b.look(ctx, []string{addr}, connect); err == nil {
			found = append(found, conns[0].Server)
			_ = conns[0].Close()
		}
	}
	return found
}

// prefix is that of the keys of one run. It does not follow from the seed: two runs of one
// seed may go side by side.
func prefix() string { return Family + strings.ToLower(rand.Text()[:10]) + ":" }

// hosts are those of the addresses, for which the servers' certificates are.
func hosts(addrs []string) (names []string) {
	for _, addr := range addrs {
		host, _, _ := net.SplitHostPort(addr)
		names = append(names, host)
	}
	return names
}

// server is a server of which nobody here can do more than talk to it.
type server string

// Addr implements [live.Server].
func (s server) Addr() string { return string(s) }
