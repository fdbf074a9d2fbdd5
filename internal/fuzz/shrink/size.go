package shrink

import (
	"cmp"
	"reflect"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Size is how large a scenario is: how much somebody has to be told who wants to know
// what happens in it. Of two sizes the one is smaller whose first field that differs is
// smaller.
type Size struct {
	Clients int
	Causes  int // faults, but for those that shape the world: see [Shapes]
	Cuts    int // faults that shape the world
	Nodes   int
	Rounds  int // of all clients

	// Kinds counts faults of which a simpler kind is known: a crash is simpler than
	// a power loss, a partition simpler than a split.
	Kinds int

	// Features counts what has to be said at all: each value that is not the usual
	// one, once more for a range that is not one value, each member of a list. What
	// starts at an instant hides what it has to do with, and counts as more than what
	// starts at a step.
	Features int

	// Digits counts the significant digits of all numbers that are not the usual ones,
	// twice, less one where it is 1, 2 or 5 and zeros.
	Digits int

	// Magnitude is how large these numbers are: the sum of their places in 1, 2, 5,
	// 10, 20, 50, …
	Magnitude int

	// Order is the sum of the numbers by which the plan names clients and nodes, and
	// of the places of steps in a list that begins with granted: so that of scenarios
	// which differ in nothing else one is the smallest.
	Order int
}

// Less reports whether a size is smaller than another.
func (z Size) Less(than Size) bool { return z.compare(than) < 0 }

func (z Size) compare(than Size) int {
	a, b := reflect.ValueOf(z), reflect.ValueOf(than)
	for i := range a.NumField() {
		if c := cmp.Compare(a.Field(i).Int(), b.Field(i).Int()); c != 0 {
			return c
		}
	}
	return 0
}

// Shapes reports whether a fault is part of the world and not something that happens
// in it: a partition from the beginning to the end, which leaves a client a bare
// quorum. By itself it breaks nothing.
func Shapes(f nemesis.Fault) bool {
	_, partition := f.Action.(*nemesis.Partition)
	return partition && f.Start == nemesis.At(0) && f.End == nil
}

// SizeOf measures a scenario.
func SizeOf(s scenarios.Scenario) Size {
	z := Size{Clients: len(s.Clients), Nodes: s.Nodes}
	for _, f := range s.Plan {
		if Shapes(f) {
			z.Cuts++
		} else {
			z.Causes++
		}
		if simplerKind(f, s) != nil {
			z.Kinds++
		}
	}
	for _, c := range s.Clients {
		z.Rounds += c.Rounds
	}
	for _, l := range leavesOf(&s) {
		z.add(l)
	}
	return z
}

// add counts one value.
func (z *Size) add(l leaf) {
	if l.usual() {
		return
	}
	switch v := l.v.Interface().(type) {
	case time.Duration:
		z.number(int64(v))
	case nemesis.Range:
		z.rangeOf(v)
	case nemesis.Distribution:
		z.distribution(v)
	case nemesis.Trigger:
		z.moment(v, strings.HasSuffix(l.path, ".end"))
	case []int:
		z.Features += len(v)
		for _, n := range v {
			z.Order += n
		}
	default:
		z.other(l)
	}
}

func (z *Size) other(l leaf) {
	switch {
	case l.v.CanInt() && l.numbers():
		z.Order += int(l.v.Int())
	case l.v.CanInt():
		z.number(l.v.Int())
	case l.v.CanFloat():
		z.number(int64(l.v.Float() * 1e9))
	case l.v.Kind() == reflect.Slice:
		z.Features += l.v.Len()
	case l.name() == "workload":
		z.Features += placeOf(l.v.String(), workloads)
	default:
		z.Features++
	}
}

func (z *Size) number(n int64) {
	z.Features++
	z.Digits += digits(n)
	z.Magnitude += magnitude(n)
}

func (z *Size) rangeOf(r nemesis.Range) {
	z.number(int64(r.Max))
	if r.Min != r.Max {
		z.number(int64(r.Min))
	}
}

func (z *Size) distribution(d nemesis.Distribution) {
	z.rangeOf(d.Range)
	if d.LogNormal != nil || d.Pareto != nil {
		z.Features += 2
	}
	z.Features += len(d.Samples)
}

func (z *Size) moment(m nemesis.Trigger, end bool) {
	switch {
	case m.After != nil:
		z.Features++
		if *m.After > 0 {
			z.number(int64(*m.After))
		}
		return
	case end:
		z.Features += 2
	}
	if m.Client == 0 {
		z.Features++
		z.number(int64(m.At))
		return
	}
	z.Features++
	z.Order += m.Client + placeOf(string(m.Step), steps)
	for _, n := range []int64{int64(m.K), int64(m.Count), int64(m.Plus)} {
		if n != 0 {
			z.number(n)
		}
	}
}
