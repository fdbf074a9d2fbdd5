package process

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend makes worlds of real redis-server processes. The zero value uses the
// redis-server in PATH.
type Backend struct {
	// Binary is the path of redis-server; empty means to look it up in PATH.
	Binary string
}

// handlers lists how each kind of fault is injected.
var handlers = slices.Concat(live.Anywhere(nemesis.NodeClockFeature), live.Outages(), live.PowerLosses(nemesis.StuckSyncFeature, nemesis.TornRefuseFeature), live.OldSnapshots(), live.VMRestores(), live.Failovers(), live.Stops(), live.Commands(), live.Duplicates())

// Name is what a user calls this backend.
func (Backend) Name() string { return "process" }

// Faults lists the kinds of faults that its worlds can carry out.
func (Backend) Faults() []nemesis.Kind { return handlers.Kinds() }

// Features lists the features that they have for them.
func (Backend) Features() []nemesis.Feature { return handlers.Features() }

// Open starts the servers and the network of a setting, which must be valid and
// ask for no other faults than [Backend.Faults] and [Backend.Features]; the
// setting's latency and sync are ignored, for this network and this disk are
// real, and so is its replication, which only a failover would show. The
// world's history goes to sink, one event at a time. ctx bounds the start only.
//
// Errors say in full what went wrong: that there is no redis-server and how to
// get one, or the end of the log of the one that did not start. Nothing is left
// of a world that could not be opened.
func (b Backend) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	rewinds := slices.Contains(s.Plan.Kinds(), (*nemesis.VMRestore)(nil).Kind())
	servers, err := redisserver.OpenFleet(ctx, redisserver.Options{
		Binary:      b.Binary,
		Nodes:       s.Nodes + len(live.FailingOver(s.Plan)),
		AppendOnly:  s.Persistence != nemesis.Nothing,
		EverySecond: s.Persistence == nemesis.EverySecond,
		Torn:        live.Torn(s.Plan),
		Journal:     rewinds || slices.Contains(s.Plan.Kinds(), (*nemesis.OldSnapshot)(nil).Kind()),
		Rewind:      rewinds,
		Clocks:      s.Plan.AsksFor(nemesis.NodeClockFeature),
	})
	if err != nil {
		return nil, err
	}
	fleet, err := live.WithReplicas(ctx, s, seed, live.FleetOf(servers.Servers(), servers.Died(), servers.Close))
	if err != nil {
		return nil, errors.Join(err, fleet.Close())
	}
	return live.Open(s, seed, sink, fleet, handlers)
}

var _ live.Own = (*redisserver.Server)(nil)
