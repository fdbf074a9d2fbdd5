package parts

import (
	"fmt"
	"iter"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Part is some runs of a unit of work, such as a point of a sweep or a row of a debate: those
// with the seeds First, First+1, … Its unit says what is run.
type Part struct {
	Unit  int    `json:"unit"` // its number, from 1
	First uint64 `json:"first_seed"`
	Runs  int    `json:"runs"` // at least 1
}

// String describes the part, as in "unit 3, seeds 1001 to 2000".
func (p Part) String() string {
	return fmt.Sprintf("unit %d, seeds %d to %d", p.Unit, p.First, p.First+uint64(p.Runs)-1)
}

// Divide divides the runs of a unit into consecutive parts of at most block runs; less than 1
// counts as 1.
func Divide(unit int, first uint64, runs, block int) []Part {
	block = max(block, 1)
	list := make([]Part, 0, (runs-1)/block+1)
	for done := 0; done < runs; {
		n := min(block, runs-done)
		list = append(list, Part{unit, first + uint64(done), n})
		done += n
	}
	return list
}

// ByUnit iterates over the parts of each unit, with the index of the first of them.
func ByUnit(all []Part) iter.Seq2[int, []Part] {
	return func(yield func(int, []Part) bool) {
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[to].Unit == all[from].Unit {
				to++
			}
			if !yield(from, all[from:to]) {
				return
			}
			from = to
		}
	}
}

// cover returns an error unless some parts are all runs of a unit, in order and each once.
func cover(list []Part, first uint64, runs int) error {
	next, left := first, runs
	for _, p := range list {
		if p.First != next || p.Runs < 1 || p.Runs > left {
			return fmt.Errorf("%v: the seed %d and %s are next", p, next, textfmt.Count(left, "run"))
		}
		next, left = next+uint64(p.Runs), left-p.Runs
	}
	if left > 0 {
		return fmt.Errorf("the last %s are in no part", textfmt.Count(left, "run"))
	}
	return nil
}
