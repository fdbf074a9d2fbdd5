package sim

import (
	"context"
	"hash/fnv"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Stream identifies a stream of random numbers of a world: the random numbers of a client, the
// latencies of one direction of a link, what a fault draws, and so on. It is the same in all worlds.
type Stream uint64

// Drawer replaces random numbers of a world.
type Drawer interface {
	// Draw returns 64 random bits: number n, from 0, of a stream. own is the number that follows
	// from the world's seed. [nemesis.Range] and [nemesis.Table] map more bits to a longer time.
	// Clones of a client draw the same numbers of one stream.
	Draw(w *World, s Stream, n int, own uint64) uint64
}

// OpenDrawn is [Open] for a world whose random numbers go through a drawer.
func OpenDrawn(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink, d Drawer) (*World, error) {
	w, err := Open(ctx, s, seed, sink)
	if err == nil {
		w.drawer = d
	}
	return w, err
}

// Randomness is something random in a world, and what becomes of it in a world with choices.
type Randomness struct {
	What   string
	Chosen PointKind // the points at which it is chosen; 0: it follows from the seed there, too
	Fixed  string    // if it does: the bound that an exploration prints, as in "tokens of one seed"
}

// Purpose is what random numbers are for: an entry of [Random].
type Purpose int

// The entries of [Random].
const (
	forLatencies Purpose = iota
	forClients
	forTokens
	forSyncWaits
	forSyncPhases
	forReplication
	forElections
	forCommits
	forFaults
)

// Random lists all that is random in a world. What draws a random number names its entry.
var Random = [...]Randomness{
	forLatencies:   {What: "latencies of messages", Chosen: Latency},
	forClients:     {What: "numbers that clients draw, but for tokens", Chosen: Draw},
	forTokens:      {What: "tokens of clients", Fixed: "tokens of one seed"},
	forSyncWaits:   {What: "waits of nodes for their disks", Chosen: Draw},
	forSyncPhases:  {What: "when nodes sync their disks, each second", Chosen: Kept},
	forReplication: {What: "when changes come to a replica", Chosen: Kept},
	forElections:   {What: "lengths of the store's elections", Chosen: Draw},
	forCommits:     {What: "lengths of the store's commits", Chosen: Draw},
	forFaults:      {What: "what faults draw for messages", Chosen: Draw},
}

// source is the random numbers of one stream.
type source struct {
	world   *World
	purpose Purpose
	name    string
	random  rand.PCG
	count
}

// count is how many numbers of a stream have been drawn.
type count struct {
	stream Stream
	drawn  int
}

// stream returns a stream of random numbers to which no drawer and no chooser has access.
func stream(_ Purpose, seed uint64, name string) *rand.PCG { return nemesis.Stream(seed, name) }

// source returns the source of the name. Without a drawer its numbers are those of
// [nemesis.Stream].
func (w *World) source(purpose Purpose, name string) *source {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	s := &source{world: w, purpose: purpose, name: name, count: count{stream: Stream(h.Sum64())}}
	s.random.Seed(w.seed, uint64(s.stream))
	return s
}

// Uint64 returns the next number. In a world with choices it is chosen.
func (s *source) Uint64() uint64 {
	own := s.unchosen()
	if s.world.choices == nil {
		return own
	}
	s.drawn++
	return s.world.chosenBits(Point{Kind: Draw, For: s.purpose, Source: s.name, Number: s.drawn}, own)
}

// unchosen returns the next number, also in a world with choices: for what has a bound that an
// exploration prints, and for what another point decides.
func (s *source) unchosen() uint64 { return s.world.drawn(&s.count, s.random.Uint64()) }

// draw draws from a table. Where all durations are alike there is nothing to choose.
func (s *source) draw(t *nemesis.Table) int64 {
	if r := t.Range(); r.Min == r.Max {
		return int64(t.Draw(s.unchosen()))
	}
	return int64(t.Draw(s.Uint64()))
}

// faultDraws returns what the rule of a fault draws its numbers from.
func (w *World) faultDraws(a nemesis.Action, stream string) func() uint64 {
	s := w.source(forFaults, stream)
	if w.choices != nil && !varies(a) {
		return s.unchosen
	}
	return s.Uint64
}

// varies reports whether an action draws durations that can differ.
func varies(a nemesis.Action) (some bool) {
	s := nemesis.Setting{Plan: nemesis.Plan{{Action: a}}}
	_ = s.EachDistribution(func(d *nemesis.Distribution) error {
		r := d.Table().Range()
		some = some || r.Min < r.Max
		return nil
	})
	return some
}

// drawn returns the next number of a stream, given the one that follows from the seed.
func (w *World) drawn(c *count, own uint64) uint64 {
	if w.drawer == nil {
		return own
	}
	n := c.drawn
	c.drawn++
	return w.drawer.Draw(w, c.stream, n, own)
}

// becomes makes the source draw what another would draw.
func (s *source) becomes(other *source) {
	s.random, s.count = other.random, other.count
}

// Link returns the direction of a link whose latencies are the numbers of a stream. ok: there is one.
func (w *World) Link(s Stream) (client, node int, way nemesis.Direction, ok bool) {
	if s < 1 || s > Stream(2*len(w.network.links)) {
		return 0, 0, "", false
	}
	link := int(s-1) / 2
	way = nemesis.Requests
	if s%2 == 0 {
		way = nemesis.Replies
	}
	return link/w.network.nodes + 1, link%w.network.nodes + 1, way, true
}
