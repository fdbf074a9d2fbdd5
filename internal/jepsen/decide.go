package jepsen

import (
	"context"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
)

// manner is what a sweep does with too many configs.
type manner struct {
	lenient bool // it makes one of them that can do more; otherwise it leaves some behind
	most    int  // how many is not too many, of those that differ only in what they have used
	beam    int  // and of all, unless it is lenient
}

// apart is how many configs are told apart that differ only in what they have
// used; 0 is all.
func (m manner) apart() int {
	if m.lenient {
		return m.most
	}
	return 0
}

const (
	// beam is how many configs the first hasty sweep goes on with.
	beam = 64
	// rounds is how often a sweep begins again with more.
	rounds = 5
)

// decide closes in on the verdict from two sides, since to follow all configs
// can cost too much where operations of unknown outcome are many. A hasty sweep
// leaves configs behind, those that have used most: if it finds an order there is
// one. A lenient sweep takes configs for one that differ only in what they have
// used, and lets it be what all of them have used: if it finds no order there is
// none. Where neither tells, both go on with more in the next round.
func decide(ctx context.Context, m porcupine.Model, steps []step, beam int) (w *sweep, verdict checker.Verdict, stuck int) {
	most := 1
	for range rounds {
		w = newSweep(m, steps, manner{most: most, beam: beam * most})
		verdict, stuck = w.run(ctx)
		if verdict == checker.Holds || !w.rough || ctx.Err() != nil {
			break
		}
		lenient := newSweep(m, steps, manner{lenient: true, most: most})
		found, last := lenient.run(ctx)
		switch {
		case found == checker.Violated && last == stuck:
			w.reached = lenient.reached
			return w, found, stuck // with configs that the history can have had
		case found == checker.Violated || found == checker.Holds && !lenient.rough:
			return lenient, found, last
		}
		most *= 8
	}
	if w.rough && verdict == checker.Violated {
		verdict = checker.Unknown
	}
	return w, verdict, stuck
}
