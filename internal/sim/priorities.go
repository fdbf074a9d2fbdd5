package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/nemesis"
)

// priorities are those of a world's link directions: see [nemesis.Priorities].
type priorities struct {
	shares  map[Stream]uint64 // of its range, in units of 2⁻⁶⁴, that a message of a direction takes
	changes map[int]uint64    // by the number of a message: what its direction takes from then on
}

// newPriorities draws the priorities of a run. The slowest change point takes the whole range.
func newPriorities(p nemesis.Priorities, n *network, seed uint64) *priorities {
	random := rand.New(stream(forLatencies, seed, "priorities"))
	varying := n.varying()
	drawn := &priorities{map[Stream]uint64{}, map[int]uint64{}}
	slowest := uint64(max(len(varying)+p.Depth-2, 1))
	share := func(place int) uint64 {
		high, low := bits.Mul64(math.MaxUint64, uint64(place))
		part, _ := bits.Div64(high, low, slowest)
		return part
	}
	for place, i := range random.Perm(len(varying)) {
		drawn.shares[varying[i].stream] = share(place)
	}
	for i := range p.Depth - 1 {
		drawn.changes[1+random.IntN(p.Messages)] = share(len(varying) + i)
	}
	return drawn
}

// share returns the share of its range that a message with a number, from 1, takes.
func (p *priorities) share(l *linkDirection, message int) uint64 {
	if slow, changes := p.changes[message]; changes {
		p.shares[l.stream] = slow
	}
	return p.shares[l.stream]
}

// varies reports whether the latency of a direction is a range.
func (l *linkDirection) varies() bool {
	r := l.latency.Range()
	return r.Min < r.Max
}

// varying returns the directions whose latency is a range.
func (n *network) varying() (all []*linkDirection) {
	n.each(func(l *linkDirection) {
		if l.varies() {
			all = append(all, l)
		}
	})
	return all
}

// Varying returns the number of link directions whose latency is a range, and of the messages that
// have travelled over them.
func (w *World) Varying() (directions, messages int) {
	return len(w.network.varying()), w.network.varied
}
