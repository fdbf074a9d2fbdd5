package tune

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

func at(d time.Duration) history.Time { return history.Time(d) }

// A wait counts from when the lock is wanted and free. An unfinished one counts as well,
// unless somebody holds the lock, or the client was paused.
func TestWaits(t *testing.T) {
	w := newWaitMeter()
	for _, e := range []history.Event{
		{Kind: history.Acquire, Client: 1, Time: at(0)},
		{Kind: history.Acquire, Client: 2, Time: at(1 * ms)},
		{Kind: history.Granted, Client: 1, Token: "a", Time: at(2 * ms)},
		{Kind: history.Release, Client: 1, Token: "a", Time: at(10 * ms)},
		{Kind: history.Granted, Client: 2, Token: "b", Time: at(13 * ms)},
		{Kind: history.Acquire, Client: 3, Time: at(14 * ms)},
		{Kind: history.Acquire, Client: 4, Time: at(14 * ms)},
		{Kind: history.Pause, Client: 4, Time: at(15 * ms)},
	} {
		w.Record(&e)
	}
	if got, want := w.whole(), (waits{2 * ms, 3 * ms}); !slices.Equal(got, want) {
		t.Errorf("while the lock is held: %v, want %v", got, want)
	}
	w.Record(&history.Event{Kind: history.Lapse, Client: 2, Token: "b", Time: at(20 * ms)})
	w.Record(&history.Event{Kind: history.Acquire, Client: 1, Time: at(50 * ms)})
	if got, want := slices.Sorted(slices.Values(w.whole())), []time.Duration{0, 2 * ms, 3 * ms, 30 * ms}; !slices.Equal(got, want) {
		t.Errorf("at the end: %v, want %v", got, want)
	}
}
