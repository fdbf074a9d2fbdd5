package shrink

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Size is how large a scenario is: how much somebody has to read to understand it. Sizes are
// compared field by field, in order.
type Size struct {
	Clients int
	Causes  int // faults, except lasting cuts: see [IsLastingCut]
	Cuts    int // lasting cuts
	Nodes   int
	Rounds  int // of all clients

	// Kinds counts faults of which a simpler kind is known: a crash is simpler than a power
	// loss, a partition simpler than a split.
	Kinds int

	// Features counts values other than the default, with one more for a range that is not a
	// single value, and members of lists. A fault that starts at a time counts more than one
	// that starts at a step, since the time hides what it depends on.
	Features int

	// Digits counts the significant digits of all other numbers, doubled, less one for 1, 2 or
	// 5 followed by zeros.
	Digits int

	// Magnitude is the sum of the magnitudes of these numbers: their indices in 1, 2, 5, 10,
	// 20, 50, …
	Magnitude int

	// Order is the sum of the numbers of clients and nodes in the plan, and of the indices of
	// steps in a list that begins with granted. It makes one of otherwise equal scenarios the
	// smallest.
	Order int
}

// Less reports whether a size is smaller than another.
func (z Size) Less(than Size) bool {
	a, b := reflect.ValueOf(z), reflect.ValueOf(than)
	for i := range a.NumField() {
		if c := cmp.Compare(a.Field(i).Int(), b.Field(i).Int()); c != 0 {
			return c < 0
		}
	}
	return false
}

// IsLastingCut reports whether a fault is a partition from the beginning to the end, which
// leaves a client a bare quorum. It is part of the world: by itself it violates nothing.
func IsLastingCut(f nemesis.Fault) bool {
	_, partition := f.Action.(*nemesis.Partition)
	return partition && f.Start == nemesis.At(0) && f.End == nil
}

// SizeOf measures a scenario. A fault on all nodes is as large as one on each of them.
func SizeOf(s scenarios.Scenario) Size {
	world := s.World()
	s.Plan = world.Plan
	z := Size{Clients: len(s.Clients), Nodes: s.Nodes}
	for _, f := range s.Plan {
		if IsLastingCut(f) {
			z.Cuts++
		} else {
			z.Causes++
		}
		if nemesis.Simpler(f.Action, world) != nil {
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

// add counts a value.
func (z *Size) add(l leaf) {
	if l.isDefault() {
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
		z.trigger(v, strings.HasSuffix(l.path, ".end"))
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
	case l.v.CanInt() && l.isTarget():
		z.Order += int(l.v.Int())
	case l.v.CanInt():
		z.number(l.v.Int())
	case l.v.CanFloat():
		z.number(int64(l.v.Float() * 1e9))
	case l.v.Kind() == reflect.Slice:
		z.Features += l.v.Len()
	case l.name() == "workload":
		z.Features += indexIn(l.v.String(), workloads)
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

func (z *Size) trigger(m nemesis.Trigger, end bool) {
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
	z.Order += m.Client + indexIn(string(m.Step), steps)
	for _, n := range []int64{int64(m.K), int64(m.Count), int64(m.Plus)} {
		if n != 0 {
			z.number(n)
		}
	}
}

// Extent describes the size of a scenario for people. ([Size] decides what is smaller.)
type Extent struct {
	Clients int `json:"clients"`
	Rounds  int `json:"rounds"` // of all clients together
	Nodes   int `json:"nodes"`
	Faults  int `json:"faults"`
	Causes  int `json:"causes"` // faults, except lasting partitions
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

// digits weighs the significant digits of a number: two for each, one less for 1, 2 and 5
// followed by zeros, none for 0.
func digits(n int64) int {
	if n = abs(n); n == 0 {
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

// magnitude returns how many of 1, 2, 5, 10, 20, 50, … do not exceed a number.
func magnitude(n int64) int {
	n, below := abs(n), 0
	for r := range roundNumbers(1) {
		if r > n {
			break
		}
		below++
	}
	return below
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
