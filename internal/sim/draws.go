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

// source is the random numbers of one stream.
type source struct {
	world  *World
	random rand.PCG
	count
}

// count is how many numbers of a stream have been drawn.
type count struct {
	stream Stream
	drawn  int
}

// source returns the source of the name. Without a drawer its numbers are those of
// [nemesis.Stream].
func (w *World) source(name string) *source {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	s := &source{world: w, count: count{stream: Stream(h.Sum64())}}
	s.random.Seed(w.seed, uint64(s.stream))
	return s
}

// Uint64 returns the next number.
func (s *source) Uint64() uint64 { return s.world.drawn(&s.count, s.random.Uint64()) }

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
