package nemesis

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"time"
)

// paramGenerator draws the parameters of random faults for a setting. It draws
// integers only, so that a seed gives the same plan on every machine.
type paramGenerator struct {
	setting Setting
	scale   time.Duration // the TTL of the lock: a fault has to last about as long to matter
	random  *rand.PCG
	newer   *rand.PCG // for the fields that version 2 came to draw, so that all others are those of version 1
}

func newParamGenerator(s Setting, scale time.Duration, random *rand.PCG) *paramGenerator {
	split := *random
	return &paramGenerator{setting: s, scale: scale, random: random, newer: rand.NewPCG(split.Uint64(), split.Uint64())}
}

// fromNewer returns the generator that draws from the newer stream.
func (g paramGenerator) fromNewer() *paramGenerator {
	g.random = g.newer
	return &g
}

// below draws one of 0, …, n-1.
func (g *paramGenerator) below(n int) int {
	high, _ := bits.Mul64(g.random.Uint64(), uint64(n))
	return int(high)
}

// chance draws true with the given probability in percent.
func (g *paramGenerator) chance(percent int) bool { return g.below(100) < percent }

func (g *paramGenerator) node() int   { return 1 + g.below(g.setting.Nodes) }
func (g *paramGenerator) client() int { return 1 + g.below(g.setting.Clients) }

// some draws a non-empty subset of 1 to n; every size is equally likely. nil means
// all.
func (g *paramGenerator) some(n int) []int {
	size := 1 + g.below(n)
	if size == n {
		return nil
	}
	var list []int
	for v := 1; v <= n; v++ {
		if g.below(n-v+1) < size-len(list) {
			list = append(list, v)
		}
	}
	return list
}

func (g *paramGenerator) nodes() []int   { return g.some(g.setting.Nodes) }
func (g *paramGenerator) clients() []int { return g.some(g.setting.Clients) }

// links draws links of one client or of all, to some nodes.
func (g *paramGenerator) links() Links {
	l := Links{Nodes: g.nodes()}
	if g.chance(50) {
		l.Clients = []int{g.client()}
	}
	return l
}

func (g *paramGenerator) direction() Direction {
	return [...]Direction{Both, Both, Requests, Replies}[g.below(4)]
}

// machine draws a node or, less often, a client.
func (g *paramGenerator) machine() Machine {
	if g.chance(40) {
		return Machine{Client: g.client()}
	}
	return Machine{Node: g.node()}
}

// maxScale leaves room for twice the scale, and a little more, below [MaxDuration].
const maxScale = MaxDuration/2 - time.Hour

// length draws a duration between a thousandth of the scale and twice the scale.
// Short ones are as likely as long ones: what matters may take as long as a message,
// or longer than a TTL.
func (g *paramGenerator) length() time.Duration {
	span := min(g.scale, maxScale) >> g.below(11)
	return span + g.upTo(span)
}

// few draws 1/4 to 2 in steps of 1/4, which are exact as a float64.
func (g *paramGenerator) few() float64 { return float64(1+g.below(8)) / 4 }

// delay draws a distribution: mostly uniform, sometimes another shape, with or
// without a heavy tail.
func (g *paramGenerator) delay() Distribution {
	delay := Distribution{Range: Range{Max: g.length()}}
	switch g.below(10) {
	case 0:
		delay.LogNormal = &LogNormal{Median: 1 + delay.Max/4, Sigma: g.few()}
	case 1:
		delay.Pareto = &Pareto{Scale: 1 + delay.Max/16, Alpha: g.few()}
	case 2:
		for range 2 + g.below(3) {
			delay.Samples = append(delay.Samples, round(g.upTo(delay.Max)))
		}
	}
	return delay
}

// restartDelay mostly draws 0, which leaves the restart to the end of the fault.
func (g *paramGenerator) restartDelay() time.Duration {
	if g.chance(80) {
		return 0
	}
	return round(g.length()) + time.Microsecond
}

// upTo draws a duration of up to limit.
func (g *paramGenerator) upTo(limit time.Duration) time.Duration {
	return Range{Max: limit}.Draw(g.random.Uint64())
}

// eitherWay draws the sign of a duration.
func (g *paramGenerator) eitherWay(by time.Duration) time.Duration {
	if g.chance(50) {
		return -by
	}
	return by
}

// takeover draws the machine on which a server goes on: mostly one with the same clock.
func (g *paramGenerator) takeover() Takeover {
	if g.chance(70) {
		return Takeover{}
	}
	return Takeover{ClockOffset: g.eitherWay(round(g.length()))}
}

// slewRate draws the usual slew rate or that of a fast daemon.
func (g *paramGenerator) slewRate() int64 { return [...]int64{DefaultHealPPM, 83_000}[g.below(2)] }

// healing draws no healing in half of the cases.
func (g *paramGenerator) healing() Healing {
	switch g.below(4) {
	case 0:
		return Healing{Heal: HealStep}
	case 1:
		return Healing{Heal: HealSlew, HealPPM: g.slewRate()}
	}
	return Healing{}
}

// Stream returns a named source of random numbers for a seed. Each purpose has its
// own stream, so that another draw for one does not shift the others.
// Plans are drawn from [PlanStream].
func Stream(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.NewPCG(seed, h.Sum64())
}

// Mix hashes words into one, by the finalizer of SplitMix64 (Steele, Lea and Flood, Fast Splittable
// Pseudorandom Number Generators, OOPSLA 2014).
func Mix(words ...uint64) (h uint64) {
	for _, w := range words {
		h += w + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// PlanStream names the stream that the faults of a generated plan are drawn
// from.
const PlanStream = "plan"

// round makes a time that is easy to read.
func round(d time.Duration) time.Duration { return d.Truncate(time.Microsecond) }
