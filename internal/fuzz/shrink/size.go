package shrink

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
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

// Extent is how much of a scenario there is to read, for people. (What is smaller than
// what a shrinker tells by a [Size], which has more in it.)
type Extent struct {
	Clients int `json:"clients"`
	Rounds  int `json:"rounds"` // of all clients together
	Nodes   int `json:"nodes"`
	Faults  int `json:"faults"`
	Causes  int `json:"causes"` // faults, but for partitions that last for the whole run
}

// ExtentOf measures a scenario.
func ExtentOf(s scenarios.Scenario) Extent {
	z := SizeOf(s)
	return Extent{Clients: z.Clients, Rounds: z.Rounds, Nodes: z.Nodes, Faults: z.Causes + z.Cuts, Causes: z.Causes}
}

func (z Extent) String() string {
	text := strings.Join([]string{
		textfmt.Count(z.Clients, "client"), textfmt.Count(z.Rounds, "round"),
		textfmt.Count(z.Nodes, "node"), textfmt.Count(z.Faults, "fault"),
	}, ", ")
	if cuts := z.Faults - z.Causes; cuts > 0 {
		text += fmt.Sprintf(" (%d of them a lasting partition)", cuts)
	}
	return text
}

// digits weighs the significant digits of a number: two for each, one less for 1, 2
// and 5 with nothing but zeros behind them; none for 0.
func digits(n int64) int {
	if n = size(n); n == 0 {
		return 0
	}
	for n%10 == 0 {
		n /= 10
	}
	if n == 1 || n == 2 || n == 5 {
		return 1
	}
	weight := 0
	for ; n > 0; n /= 10 {
		weight += 2
	}
	return weight
}

// magnitude is how many of 1, 2, 5, 10, 20, 50, … are not above a number.
func magnitude(n int64) int {
	n, below := size(n), 0
	for r := range roundNumbers(1) {
		if r > n {
			break
		}
		below++
	}
	return below
}

// roundNumbers yields 1, 2, 5, 10, … times a unit, as long as they are numbers.
func roundNumbers(unit int64) func(yield func(int64) bool) {
	return func(yield func(int64) bool) {
		for ; ; unit *= 10 {
			for _, first := range []int64{1, 2, 5} {
				if unit > math.MaxInt64/10 || !yield(first*unit) {
					return
				}
			}
		}
	}
}

// rounder lists numbers that may stand for n, in the order in which they should be
// tried: 0, the round ones from a unit on up to the first above n, which are the
// smallest first; then n with fewer digits. A number below 0 has such itself.
func rounder(n, unit int64) []int64 {
	if n < 0 {
		list := rounder(-n, unit)
		for i := range list {
			list[i] = -list[i]
		}
		return append(rounder(-n, unit), list...)
	}
	list := []int64{0}
	for r := range roundNumbers(unit) {
		list = append(list, r)
		if r > n {
			break
		}
	}
	for place := int64(1e18); place > 1; place /= 10 {
		if down := n - n%place; down > 0 && down < n {
			list = append(list, down, down+place)
		}
	}
	return list
}

func size(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
