package process

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/history"
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

	// External says that the lock is not of this program: see [live.Fleet].
	External bool
}

// handlers lists how each kind of fault is injected.
var handlers = slices.Concat(live.Anywhere(nemesis.NodeClockFeature), live.Outages(), live.PowerLosses(nemesis.StuckSyncFeature, nemesis.TornLoadFeature, nemesis.TornRefuseFeature), live.OldSnapshots(), live.VMRestores(), live.Failovers(), live.Stops(nemesis.ClientPauseFeature), live.Commands(), live.Duplicates())

// Ability says which faults its worlds can inject.
func (Backend) Ability() nemesis.Ability {
	return nemesis.Ability{Name: "process", Kinds: handlers.Kinds(), Features: handlers.Features()}
}

// Open starts the servers and opens a world on them. The setting must be valid and must not
// need other faults than those of its [Backend.Ability]. Its latency and sync are
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
	fleet := live.NewFleet(servers.Servers(), servers.Died(), servers.Close)
	fleet.WatchKeys, fleet.External = b.WatchKeys, b.External
	return live.OpenRedis(ctx, s, seed, sink, fleet, handlers)
}

var _ live.OwnServer = (*redisserver.Server)(nil)
