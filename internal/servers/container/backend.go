package container

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend makes worlds of Redis in containers.
type Backend struct {
	// Image is the image to run, which must have redis-server in its PATH. It is pulled
	// if it is not there. Empty: one that is built from the redis-server in our PATH.
	Image string

	// Preload is what redis-server has to preload in that image to have a clock of its
	// own: the paths of libfaketime and of the C library, with a colon between them. For
	// an image that we build it is not asked for. Empty: clocks of nodes cannot be set.
	Preload string
}

// Name is what a user calls this backend.
func (Backend) Name() string { return "container" }

// Faults lists the kinds of faults that its worlds can carry out.
func (b Backend) Faults() []nemesis.Kind { return b.handlers().Kinds() }

// Features lists the features that they have for them.
func (b Backend) Features() []nemesis.Feature { return b.handlers().Features() }

func (b Backend) handlers() live.FaultHandlers {
	var features []nemesis.Feature
	if b.clocks() {
		features = append(features, nemesis.NodeClockFeature)
	}
	return slices.Concat(live.Anywhere(features...), live.Outages(), live.PowerLosses(nemesis.StuckSyncFeature), live.OldSnapshots(), live.Failovers(), live.Stops(), live.Commands(), live.Duplicates())
}

// clocks reports whether servers can have clocks of their own, as far as can be known
// before anything is started.
func (b Backend) clocks() bool { return b.Image == "" || b.Preload != "" }

// Open starts the containers and the network of a setting, which must be valid and ask
// for no other faults than [Backend.Faults] and [Backend.Features]; the setting's latency
// and sync are ignored, for this network and these disks are real. The world's history
// goes to sink, one event at a time. ctx bounds the start only.
//
// Errors are one line that says what is missing: an engine, the image, redis-server in
// it; or what is wrong with a server, see package vetting; or have the end of the log of
// the container that ended. Nothing is left of a world
// that could not be opened.
func (b Backend) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	kinds, failing := s.Plan.Kinds(), live.FailoverNodes(s.Plan)
	o := Options{
		Backend:     b,
		Nodes:       s.Nodes + len(failing),
		AppendOnly:  s.Persistence != nemesis.Nothing,
		EverySecond: s.Persistence == nemesis.EverySecond,
		Power:       s.Persistence == nemesis.EverySecond && slices.Contains(kinds, (*nemesis.PowerLoss)(nil).Kind()) || live.Torn(s.Plan),
		Journal:     slices.Contains(kinds, (*nemesis.OldSnapshot)(nil).Kind()),
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
	fleet, err := live.WithReplicas(ctx, s, seed, live.NewFleet(servers.Servers(), servers.Died(), servers.Close))
	if err != nil {
		return nil, errors.Join(err, fleet.Close())
	}
	return live.Open(s, seed, sink, fleet, b.handlers())
}

// Options says which servers to run.
type Options struct {
	Backend

	Nodes       int  // how many servers
	AppendOnly  bool // whether a server keeps every acknowledged write over its death, or nothing at all
	EverySecond bool // with AppendOnly: whether its file is synced each second, and not at every write
	Power       bool // whether they can lose what was not synced, or have their files torn, see [Server.LosePower]
	Journal     bool // whether they can be taken back to a time before, see [Server.Restore]
	Clocks      bool // whether their wall clocks can be set, see [Server.SetClock]

	// Linked are the nodes whose servers have to reach one another on loopback. Their
	// containers have the network of this machine, and not one of the engine's.
	Linked []int
}

// rollsBack reports whether what a server keeps is to be rollsBack off, and shared whether we have to
// get at what it has written for whatever reason: servers that are linked write what they
// send one another.
func (o Options) rollsBack() bool    { return o.Power || o.Journal }
func (o Options) sharesFiles() bool { return o.rollsBack() || len(o.Linked) > 0 }

var _ live.OwnServer = (*Server)(nil)
