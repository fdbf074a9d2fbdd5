package shrink

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// over reports whether nothing further may be tried, and takes note of the end of ctx.
func (k *shrinking) over() bool {
	if k.err == nil {
		k.err = k.ctx.Err()
	}
	return k.err != nil || k.Runs > 0 && k.runs >= k.Runs || k.Events > 0 && k.spent() >= k.Events
}

// spent is how many events the shrinking has cost: those of its runs, and what it took to
// make the candidates. Most candidates are never run; of a scenario with thousands of
// clients to make one costs more than a run of two clients.
func (k *shrinking) spent() int {
	spent := k.made
	if k.Spent != nil {
		spent += k.Spent()
	}
	return spent
}

// going yields what there is to try until nothing further may be tried.
func (k *shrinking) going(list iter.Seq[[]int]) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for one := range list {
			if k.over() || !yield(one) {
				return
			}
		}
	}
}

// unfinished says why the shrinking has ended before nothing made the scenario smaller;
// empty: it has not.
func (k *shrinking) unfinished() string {
	switch {
	case errors.Is(k.err, context.DeadlineExceeded):
		return "time limit"
	case k.err != nil:
		return "stopped"
	case k.Runs > 0 && k.runs >= k.Runs:
		return fmt.Sprintf("limit of %d runs", k.Runs)
	case k.Events > 0 && k.spent() >= k.Events:
		return fmt.Sprintf("limit of %d events", k.Events)
	}
	return ""
}
