package sim

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/nemesis"
)

// source is the random numbers of one stream.
type source struct {
	world  *World
	random rand.PCG
	point  choice.Point // of the last number
}

// source returns the source of a name: of a client if client is not 0. Without a driver its numbers are those
// of [nemesis.Stream].
func (w *World) source(purpose choice.Purpose, client int, name string) *source {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	s := &source{world: w, point: choice.Point{Kind: choice.Number, For: purpose, Client: client, Source: name, Stream: h.Sum64()}}
	s.random.Seed(w.seed, s.point.Stream)
	return s
}

// Uint64 returns the next number.
func (s *source) Uint64() uint64 {
	own := s.random.Uint64()
	if s.world.driver == nil {
		return own
	}
	return s.world.number(&s.point, own)
}

// fixed returns the next number. If points have few ways, it follows from the seed: it has a bound that an
// exploration prints, or another point decides.
func (s *source) fixed() uint64 {
	if s.world.few != nil {
		return s.random.Uint64()
	}
	return s.Uint64()
}

// draw draws from a table. Where all durations are alike there is nothing to choose.
func (s *source) draw(t *nemesis.Table) int64 {
	if r := t.Range(); r.Min == r.Max {
		return int64(t.Draw(s.fixed()))
	}
	return int64(t.Draw(s.Uint64()))
}

// becomes makes the source draw what another would draw.
func (s *source) becomes(other *source) {
	s.random, s.point.Stream, s.point.Number = other.random, other.point.Stream, other.point.Number
}

// faultDraws returns what the rule of a fault draws its numbers from.
func (w *World) faultDraws(a nemesis.Action, stream string) func() uint64 {
	s := w.source(choice.ForFaults, 0, stream)
	if w.few != nil && !varies(a) {
		return s.fixed
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

// takes draws the latency of a message, without the delays of rules.
func (w *World) takes(l *linkDirection) int64 {
	if w.driver == nil {
		return int64(l.latency.Draw(w.network.random.Uint64()))
	}
	at := l.point
	if w.few == nil {
		return int64(l.latency.Draw(w.number(at, w.network.random.Uint64())))
	}
	at.Number++
	r, n := l.latency.Range(), uint64(w.few.Latencies)
	k := uint64(0)
	if r.Min < r.Max {
		k = w.choose(*at, n)
	}
	if k == 0 {
		return int64(r.Min)
	}
	return int64(r.Min) + int64(r.Max-r.Min)/int64(n-1)*int64(k)
}

// number returns the next number of a stream, given the one that follows from the seed. Of few ways it is
// that number, or such that a range maps it to one of some values: see [nemesis.Range.Draw].
func (w *World) number(at *choice.Point, own uint64) uint64 {
	at.Number++
	if w.few == nil {
		at.Own = own
		return w.driver.Choose(w, *at, 0)
	}
	n := uint64(w.few.Draws)
	switch k := w.choose(*at, 1+n); {
	case k == 1:
		return 0
	case k > 1:
		return (k - 1) * (math.MaxUint64 / (n - 1))
	}
	return own
}

// position returns one of some positions of a node's journal, given the one that follows from the seed.
func (w *World) position(why choice.Purpose, n *node, own int, positions []int) int {
	if len(positions) < 2 {
		return own
	}
	if k := w.choose(choice.Point{Kind: choice.Kept, For: why, Node: n.id}, 1+uint64(len(positions))); k > 0 {
		return positions[k-1]
	}
	return own
}

// choose returns the way on at a point with few ways.
func (w *World) choose(at choice.Point, n uint64) uint64 {
	if n < 2 || w.err != nil || w.sealed {
		return 0
	}
	at.Index = w.few.points
	w.few.points++
	k := w.driver.Choose(w, at, n)
	if k >= n {
		w.fail(fmt.Errorf("sim: way %d of the %d at a point", k, n))
		return 0
	}
	return k
}
