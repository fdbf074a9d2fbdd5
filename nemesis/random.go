package nemesis

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"time"
)

// dice draw the fields of random faults for a setting. Everything is drawn
// from integers, so that a plan follows from its seed on every machine.
type paramGenerator struct {
	setting Setting
	scale   time.Duration // about what a fault has to outlast to matter: the TTL of the lock
	random  *rand.PCG
}

// below draws one of 0, …, n-1.
func (d *paramGenerator) below(n int) int {
	high, _ := bits.Mul64(d.random.Uint64(), uint64(n))
	return int(high)
}

// chance draws true in so many of a hundred cases.
func (d *paramGenerator) chance(percent int) bool { return d.below(100) < percent }

func (d *paramGenerator) node() int   { return 1 + d.below(d.setting.Nodes) }
func (d *paramGenerator) client() int { return 1 + d.below(d.setting.Clients) }

// some draws a subset of 1 to n that is not empty, each size being as likely;
// nil means all.
func (d *paramGenerator) some(n int) []int {
	size := 1 + d.below(n)
	if size == n {
		return nil
	}
	var list []int
	for v := 1; v <= n; v++ {
		if d.below(n-v+1) < size-len(list) {
			list = append(list, v)
		}
	}
	return list
}

func (d *paramGenerator) nodes() []int   { return d.some(d.setting.Nodes) }
func (d *paramGenerator) clients() []int { return d.some(d.setting.Clients) }

// links draws links of one client or of all, to some nodes.
func (d *paramGenerator) links() Links {
	l := Links{Nodes: d.nodes()}
	if d.chance(50) {
		l.Clients = []int{d.client()}
	}
	return l
}

func (d *paramGenerator) direction() Direction {
	return [...]Direction{Both, Both, Requests, Replies}[d.below(4)]
}

// machine draws a node or, less often, a client.
func (d *paramGenerator) machine() Machine {
	if d.chance(40) {
		return Machine{Client: d.client()}
	}
	return Machine{Node: d.node()}
}

// longestScale leaves room for twice the scale, and a little more, below [Longest].
const maxScale = MaxDuration/2 - time.Hour

// length draws a duration between a thousandth of the scale and twice the
// scale, as likely below a tenth as above it: what matters may be as short as a
// message takes, or outlast a TTL.
func (d *paramGenerator) length() time.Duration {
	span := min(d.scale, maxScale) >> d.below(11)
	return span + d.upTo(span)
}

// few draws a number of quarters, up to two. They are exact as a float64.
func (d *paramGenerator) few() float64 { return float64(1+d.below(8)) / 4 }

// delay draws how long something takes: mostly uniform, now and then of
// another shape, with or without a heavy tail.
func (d *paramGenerator) delay() Distribution {
	delay := Distribution{Range: Range{Max: d.length()}}
	switch d.below(10) {
	case 0:
		delay.LogNormal = &LogNormal{Median: 1 + delay.Max/4, Sigma: d.few()}
	case 1:
		delay.Pareto = &Pareto{Scale: 1 + delay.Max/16, Alpha: d.few()}
	case 2:
		for range 2 + d.below(3) {
			delay.Samples = append(delay.Samples, round(d.upTo(delay.Max)))
		}
	}
	return delay
}

// restartDelay draws 0, which leaves the restart to the end of the fault, in
// most cases.
func (d *paramGenerator) restartDelay() time.Duration {
	if d.chance(80) {
		return 0
	}
	return round(d.length()) + time.Microsecond
}

// upTo draws a duration of up to limit.
func (d *paramGenerator) upTo(limit time.Duration) time.Duration {
	return Range{Max: limit}.Draw(d.random.Uint64())
}

// eitherWay draws the sign of a duration.
func (d *paramGenerator) eitherWay(by time.Duration) time.Duration {
	if d.chance(50) {
		return -by
	}
	return by
}

// slewRate draws between the slews that there are: the usual one, and that of
// a daemon in a hurry.
func (d *paramGenerator) slewRate() int64 { return [...]int64{DefaultHealPPM, 83_000}[d.below(2)] }

// healing draws nothing in half of the cases.
func (d *paramGenerator) healing() Healing {
	switch d.below(4) {
	case 0:
		return Healing{Heal: HealStep}
	case 1:
		return Healing{Heal: HealSlew, HealPPM: d.slewRate()}
	}
	return Healing{}
}

// Stream returns the named source of randomness of a seed. Each purpose has a
// stream of its own, so that a draw added for one does not shift the others.
// Plans are drawn from [PlanStream].
func Stream(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.NewPCG(seed, h.Sum64())
}

// PlanStream names the stream that the faults of a generated plan are drawn
// from.
const PlanStream = "plan"
