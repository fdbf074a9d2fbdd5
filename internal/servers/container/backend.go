package container

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend opens worlds on Redis in containers.
type Backend struct {
	// Image is the image to run. It must have redis-server in its PATH, and is pulled if
	// necessary. Clocks of its nodes cannot be set. If it is empty, an image is built from the
	// redis-server in our PATH.
	Image string

	// WatchKeys says that the changes of the nodes' keys are recorded, as a watch reports them.
	WatchKeys bool
}

// Ability says which faults its worlds can inject.
func (b Backend) Ability() nemesis.Ability {
	return nemesis.Ability{Name: "container", Kinds: b.handlers().Kinds(), Features: b.handlers().Features()}
}

func (b Backend) handlers() live.FaultHandlers {
	var features []nemesis.Feature
	if b.Image == "" {
		features = append(features, nemesis.NodeClockFeature)
	}
	return slices.Concat(live.Anywhere(features...), live.Outages(), live.PowerLosses(nemesis.StuckSyncFeature, nemesis.TornLoadFeature), live.OldSnapshots(), live.Failovers(), live.Stops(nemesis.ClientPauseFeature), live.Commands(), live.Duplicates())
}

// Open starts the containers and opens a world on them. The setting must be valid and must
// not need other faults than those of its [Backend.Ability]; its latency and sync
// are ignored because this network and these disks are real. Events of the history go to
// sink one at a time. ctx bounds the start only.
//
// The error is one line that says what is missing (an engine, the image, redis-server in
// it) or what is wrong with a server, or it contains the end of the log of a container that ended. After an error nothing is left behind.
func (b Backend) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	failing := s.Plan.NodesThat(nemesis.PromotesReplica)
	o := Options{
		Backend:     b,
		Nodes:       s.Nodes + len(failing),
		AppendOnly:  s.Persistence != nemesis.Nothing,
		EverySecond: s.Persistence == nemesis.EverySecond,
		Power:       s.Persistence == nemesis.EverySecond && s.Plan.Does(nemesis.CutsPower) || live.Torn(s.Plan),
		Journal:     s.Plan.Does(nemesis.ReturnsOld),
		Clocks:      s.Plan.AsksFor(nemesis.NodeClockFeature),
		Linked:      failing,
	}
	for i := range failing {
		o.Linked = append(o.Linked, s.Nodes+i+1)
	}
	servers, err := OpenFleet(ctx, o)
	if err != nil {
		return nil, err
	}
	fleet := live.NewFleet(servers.Servers(), servers.Died(), servers.Close)
	fleet.WatchKeys = b.WatchKeys
	return live.OpenRedis(ctx, s, seed, sink, fleet, b.handlers())
}

// Options configures the servers of a [Fleet].
type Options struct {
	Backend

	Nodes       int  // number of servers
	AppendOnly  bool // a server keeps its acknowledged writes over restarts; otherwise it keeps nothing
	EverySecond bool // with AppendOnly: the file is synced once a second instead of at every write
	Power       bool // servers can lose what was not synced, or have their files torn, see [Server.LosePower]
	Journal     bool // servers can be restored to an earlier state, see [Server.Restore]
	Clocks      bool // their wall clocks can be set, see [Server.SetClock]

	// Linked are the nodes whose servers have to reach each other on loopback. Their
	// containers use the host network.
	Linked []int
}

// rollsBack reports whether files of servers are truncated. sharesFiles reports whether
// this program needs access to the files at all: linked servers write what they send to
// each other.
func (o Options) rollsBack() bool   { return o.Power || o.Journal }
func (o Options) sharesFiles() bool { return o.rollsBack() || len(o.Linked) > 0 }

var _ live.OwnServer = (*Server)(nil)
