package checker_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/model"
)

// sectionTraffic is how the accesses of a benchmark meet on their resource.
type sectionTraffic struct {
	name    string
	overlap int  // how many sections are in progress at a time, about
	burst   int  // sections between two quiescent points
	blind   bool // half of the sections write without a read, values that come again
	unknown int  // 1 in so many writes has no answer; 0: none
}

var traffics = []sectionTraffic{
	{name: "sequential", overlap: 1, burst: 1},
	{name: "overlapping/2", overlap: 2, burst: 16},
	{name: "overlapping/4", overlap: 4, burst: 16},
	{name: "overlapping/8", overlap: 8, burst: 16},
	{name: "overlapping/8-bursts-of-256", overlap: 8, burst: 256},
	{name: "blind/2", overlap: 2, burst: 16, blind: true},
	{name: "blind/4", overlap: 4, burst: 16, blind: true},
	{name: "blind/8", overlap: 8, burst: 16, blind: true},
	{name: "unknown/1-in-10", overlap: 1, burst: 1, unknown: 10},
	{name: "unknown/1-in-10-overlapping/4", overlap: 4, burst: 16, unknown: 10},
}

// sections returns n sections that are legal by construction, since each has a
// point of its own at which it takes effect, and that leave the resource as they
// found it: they can be repeated. One in five beside them is declined.
func (v sectionTraffic) sections(n int) []visit {
	random := rand.New(rand.NewPCG(1, uint64(v.overlap)))
	var visits []visit
	value, from := int64(0), 0
	for i := range n {
		if i%v.burst == 0 {
			from = 100*i + 10
		}
		point := 100*i + 50
		spread := 100*v.overlap/2 - 40
		s := visit{read: value, wrote: value + 1, outcome: history.OK}
		s.call = max(from, point-1-random.IntN(spread)-8)
		s.ret = min(from+100*v.burst-20, point+1+random.IntN(spread)+8)
		if v.blind {
			s.blind, s.wrote = random.IntN(2) == 0, int64(random.IntN(8))
		}
		if i == n-1 {
			s.wrote = 0
		}
		if v.unknown > 0 && i < n-1 && random.IntN(v.unknown) == 0 {
			s.outcome = history.Unknown
		}
		if s.outcome == history.OK || random.IntN(2) == 0 {
			value = s.wrote
		}
		visits = append(visits, s)
		if s.outcome == history.OK && random.IntN(5) == 0 {
			s.outcome, s.blind, s.ret = history.Declined, false, max(s.ret, s.call+3)
			visits = append(visits, s)
		}
	}
	for i := range visits {
		visits[i].client = i%10 + 1
	}
	return visits
}

// BenchmarkEffect is the time of one section, which is two accesses and four
// events, with the judge of effect exclusion alone. Histories of a million are
// ten thousand over and over, later each time.
func BenchmarkEffect(b *testing.B) {
	for _, v := range traffics {
		for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
			visits := v.sections(min(n, 10_000))
			b.Run(fmt.Sprintf("%s/sections=%d", v.name, n), func(b *testing.B) { benchmarkEffect(b, visits, n) })
		}
	}
}

func benchmarkEffect(b *testing.B, visits []visit, n int) {
	events := visitEvents(visits)
	events = events[:len(events)-1]
	accepted := len(visitOperations(visits))
	span := history.Time(100*accepted + 1000)
	b.ReportAllocs()
	for b.Loop() {
		panel := checker.New(history.Header{Nodes: 5, Clients: 10}, checker.Effect)
		for done := 0; done < n; done += accepted {
			for i := range events {
				panel.Record(&events[i])
				events[i].Time += span
			}
		}
		panel.Record(&history.Event{Time: events[len(events)-1].Time, Kind: history.End})
		if f := panel.Finish().Findings[0]; f.Verdict != checker.Holds {
			b.Fatal(f.Verdict, f.Story())
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "sections/s")
	b.ReportMetric(float64(2*b.N*n)/b.Elapsed().Seconds(), "accesses/s")
}

// BenchmarkEffectByPorcupine is the time of porcupine on the same sections,
// uncut, without the work of gathering them from events.
func BenchmarkEffectByPorcupine(b *testing.B) {
	for _, v := range traffics {
		for _, n := range []int{1_000, 10_000} {
			ops := visitOperations(v.sections(n))
			b.Run(fmt.Sprintf("%s/sections=%d", v.name, n), func(b *testing.B) {
				b.ReportAllocs()
				specification := model.RegisterFrom(0)
				if v.unknown > 0 {
					specification = model.GuardedRegister.ToModel()
				}
				for b.Loop() {
					if !porcupine.CheckOperations(specification, ops) {
						b.Fatal("illegal")
					}
				}
				b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "sections/s")
			})
		}
	}
}
