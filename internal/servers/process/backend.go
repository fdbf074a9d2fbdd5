package process

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend opens worlds on redis-server processes. The zero value uses the redis-server in
// PATH.
type Backend struct {
	// Binary is the path of redis-server. If it is empty, it is looked up in PATH.
	Binary string

	// WatchKeys says that the changes of the nodes' keys are recorded, as a watch reports them.
	WatchKeys bool
}

// handlers lists how each kind of fault is injected.
var handlers = slices.Concat(live.Anywhere(nemesis.NodeClockFeature), live.Outages(), live.PowerLosses(nemesis.StuckSyncFeature, nemesis.TornLoadFeature, nemesis.TornRefuseFeature), live.OldSnapshots(), live.VMRestores(), live.Failovers(), live.Stops(), live.Commands(), live.Duplicates())

// Name returns the backend's name in commands and stored runs.
func (Backend) Name() string { return "process" }

// Faults lists the kinds of faults that its worlds can inject.
func (Backend) Faults() []nemesis.Kind { return handlers.Kinds() }

// Features lists the features of those kinds that they support.
func (Backend) Features() []nemesis.Feature { return handlers.Features() }

// Open starts the servers and opens a world on them. The setting must be valid and must not
// need other faults than [Backend.Faults] and [Backend.Features]. Its latency and sync are
// ignored because this network and disk are real; its replication only matters for
// failovers. Events of the history go to sink one at a time. ctx bounds the start only.
//
// The error says how to install a missing redis-server, or contains the end of the log of a
// server that did not start. After an error nothing is left behind.
func (b Backend) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	rewinds := s.Plan.Does(nemesis.KeepsRunID)
	servers, err := redisserver.OpenFleet(ctx, redisserver.Options{
		Binary:      b.Binary,
		Nodes:       s.Nodes + len(s.Plan.NodesThat(nemesis.PromotesReplica)),
		AppendOnly:  s.Persistence != nemesis.Nothing,
		EverySecond: s.Persistence == nemesis.EverySecond,
		Torn:        live.Torn(s.Plan),
		Journal:     s.Plan.Does(nemesis.ReturnsOld),
		Rewind:      rewinds,
		Clocks:      s.Plan.AsksFor(nemesis.NodeClockFeature),
	})
	if err != nil {
		return nil, err
	}
	fleet, err := live.WithReplicas(ctx, s, seed, live.NewFleet(servers.Servers(), servers.Died(), servers.Close))
	if err != nil {
		return nil, errors.Join(err, fleet.Close())
	}
	if b.WatchKeys {
		fleet.WatchKeys = func(log live.EntryLog) live.KeyWatch { return keywatch.New(log) }
	}
	return live.Open(s, seed, sink, fleet, handlers)
}

var _ live.OwnServer = (*redisserver.Server)(nil)
