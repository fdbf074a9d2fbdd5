package rare

import (
	"math/bits"

	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/nemesis"
)

// tape is the random numbers of a run, by their streams. Numbers that are not on it have not been
// drawn.
type tape map[uint64][]uint64

// move is a driver that plays a tape, changed by a step of the kernel, and records what was drawn. The
// first run of a particle plays an empty tape.
type move struct {
	from   tape
	seed   uint64
	chance uint64 // a number is changed with probability chance/2⁶⁴
	reach  uint64 // by at most so much; all bits: it is drawn anew
	to     tape
}

// kernel makes the moves of a level. Some moves change a few numbers, others nearly all, with a
// probability of 1 to 2⁻⁵ each. They change a number by up to 2⁻ʳ of its range. r is mostly near to an
// exponent that fits the level; an eighth of the moves draws numbers anew, and an eighth has any
// exponent. Every move leaves numbers uniform, because it changes a number by
// as much up as down, and reflects it at its ends.
type kernel struct{ reach int }

const (
	chances    = 6
	mostReach  = 40
	reachAbout = 2 // most moves have an exponent that is at most so much larger or smaller
)

// moved returns the move of a seed, and its exponent.
func (k kernel) moved(from tape, seed uint64) (m *move, reach int) {
	how := nemesis.Mix(seed, 0)
	switch how & 7 {
	case 0: // drawn anew, for what no short step leads to: a second pause, say
	case 1: // of any size, for numbers that need another than most
		reach = int((how >> 32) % (mostReach + 1))
	default:
		reach = k.reach - reachAbout + int((how>>32)%(2*reachAbout+1))
	}
	reach = min(max(reach, 0), mostReach)
	return &move{
		from: from, seed: seed, to: make(tape, len(from)),
		chance: ^uint64(0) >> min((how>>8)%chances, (how>>16)%chances), reach: ^uint64(0) >> reach,
	}, reach
}

// Choose implements [choice.Driver].
func (m *move) Choose(_ choice.World, at choice.Point, _ uint64) uint64 {
	if at.Kind == choice.Next {
		return 0
	}
	return m.draw(at.Stream, at.Number-1)
}

// draw draws number n, from 0, of a stream.
func (m *move) draw(s uint64, n int) uint64 {
	drawn := m.to[s]
	if n < len(drawn) { // by a client that is cloned
		return drawn[n]
	}
	v := m.next(s, n)
	m.to[s] = append(drawn, v)
	return v
}

// worldNumbers are the random numbers from which the world of a run is drawn, a stream of their own.
type worldNumbers struct {
	*move
	drawn int
}

const worldStream = 1 << 63

// Uint64 implements [math/rand/v2.Source].
func (n *worldNumbers) Uint64() uint64 {
	n.drawn++
	return n.draw(worldStream, n.drawn-1)
}

func (m *move) next(s uint64, n int) uint64 {
	fresh := nemesis.Mix(m.seed, 1, s, uint64(n))
	old := m.from[s]
	if n >= len(old) {
		return fresh
	}
	if nemesis.Mix(m.seed, 2, s, uint64(n)) > m.chance {
		return old[n]
	}
	return near(old[n], m.reach, fresh)
}

// near returns a number at most so far from another, uniform but for reflection at the ends. random
// decides which.
func near(v, reach, random uint64) uint64 {
	if reach == ^uint64(0) {
		return random
	}
	by, _ := bits.Mul64(random<<1, reach+1)
	if random>>63 == 0 {
		if sum, carry := bits.Add64(v, by, 0); carry == 0 {
			return sum
		}
		return ^(v + by)
	}
	if diff, borrow := bits.Sub64(v, by, 0); borrow == 0 {
		return diff
	}
	return ^(v - by)
}
