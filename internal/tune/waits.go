package tune

import (
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// waits are how long grants took from when the lock was wanted and free.
type waits []time.Duration

// waitMeter takes the waits of one run, in which there is one resource.
type waitMeter struct {
	waits
	wanted map[int]history.Time // since when, by client
	still  map[int]bool         // it was paused meanwhile: no setting helps
	held   map[string]bool      // by token
	free   history.Time         // since when
	last   history.Time         // event
}

func newWaitMeter() *waitMeter {
	return &waitMeter{wanted: map[int]history.Time{}, still: map[int]bool{}, held: map[string]bool{}}
}

// Record is for a [history.Sink].
func (w *waitMeter) Record(e *history.Event) {
	w.last = e.Time
	switch e.Kind {
	case history.Acquire:
		if _, waits := w.wanted[e.Client]; !waits {
			w.wanted[e.Client] = e.Time
		}
	case history.Granted:
		if !w.still[e.Client] {
			w.waits = append(w.waits, e.Time.Sub(max(w.wanted[e.Client], w.free)))
		}
		delete(w.wanted, e.Client)
		delete(w.still, e.Client)
		w.held[e.Token] = true
	case history.Release, history.Lapse, history.Lost:
		if w.held[e.Token] {
			delete(w.held, e.Token)
			w.free = e.Time
		}
	case history.Pause:
		if _, waits := w.wanted[e.Client]; waits {
			w.still[e.Client] = true
		}
	}
}

// whole returns all waits at the end of the run, also those that have not ended: without them
// a setting under which somebody starves would look quick. They are as long as they were seen.
func (w *waitMeter) whole() waits {
	all := slices.Clone(w.waits)
	for client, since := range w.wanted {
		if !w.still[client] && len(w.held) == 0 {
			all = append(all, w.last.Sub(max(since, w.free)))
		}
	}
	return all
}

// p99 is the 99th percentile and its 95 % interval, by the order of the values: how many of n
// lie below it is binomial. Of none all are 0.
func (w waits) p99() (value, lo, hi time.Duration) {
	if len(w) == 0 {
		return 0, 0, 0
	}
	list := slices.Sorted(slices.Values(w))
	n := float64(len(list))
	half := 1.96 * math.Sqrt(n*0.99*0.01)
	at := func(rank float64) time.Duration {
		return list[min(max(int(math.Ceil(rank))-1, 0), len(list)-1)]
	}
	return at(0.99 * n), at(0.99*n - half), at(0.99*n + half + 1)
}
