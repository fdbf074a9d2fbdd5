package runner_test

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/hostiletest"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// recorded counts what a run writes into its history.
type recorded struct{ events, bytes int }

func (r *recorded) Record(e *history.Event) {
	r.events++
	r.bytes += len(e.Resource) + len(e.Token) + len(e.Reason) + len(e.Detail) + len(e.Name) + 200
}

// What a run with a bound of hostileEvents may cost. An event can concern each of the tries
// that share its token and its instant, so what an instant takes does not depend on the
// bound.
const (
	hostileEvents  = 50_000
	bytesAtAll     = 512 << 20
	bytesAnEvent   = 16 << 10
	recordedEvents = 2*hostileEvents + 10_000
	recordedBytes  = recordedEvents * 1024
)

// Law: whatever can be validated, a run of it has no more events than its bound, records no
// more than follows from that, and takes no more memory; if it comes to a bound it names it,
// and says of no property that it holds. The counterpart is that ordinary scenarios end by
// themselves, and that some do come to a bound.
func TestHostileScenariosAreBounded(t *testing.T) {
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := hostiletest.Draw(t)
		s.MaxEvents = hostileEvents
		before := allocated()
		var kept recorded
		r, err := runner.Run(t.Context(), simulator, s, rapid.Uint64Range(1, 100).Draw(t, "seed"), &kept)
		took := allocated() - before
		if took > bytesAtAll+hostileEvents*bytesAnEvent {
			t.Fatalf("it took %d MB after %d events: %s", took>>20, r.Events, hostiletest.Describe(s))
		}
		if err != nil {
			if strings.Contains(err.Error(), "panic") {
				t.Fatal(err)
			}
			outcomes["refused"]++
			return
		}
		if r.Events > hostileEvents+hostileEvents/10 || kept.events > recordedEvents || kept.bytes > recordedBytes {
			t.Fatalf("%d events, %d recorded of %d bytes: %s", r.Events, kept.events, kept.bytes, hostiletest.Describe(s))
		}
		outcomes[outcomeOf(r)]++
		if r.Report.Cut != "" {
			for _, f := range r.Report.Findings {
				if f.Verdict == checker.Holds || f.Verdict == checker.NotApplicable {
					t.Fatalf("%v %v in a run that ended with %q", f.Property, f.Verdict, r.Report.Cut)
				}
			}
		}
	})
	t.Log(outcomes)
	for _, want := range []string{"refused", "ends", "max_events", "time does not move"} {
		if outcomes[want] == 0 {
			t.Errorf("no scenario was drawn that comes to %q: %v", want, outcomes)
		}
	}
}

// outcomeOf says how a run has ended.
func outcomeOf(r runner.Result) string {
	if r.Report.Cut == "" {
		return "ends"
	}
	for _, bound := range []string{"max_events", "time does not move", "at a time", "under way", "nothing happens", "too much to judge"} {
		if strings.Contains(r.Report.Cut, bound) {
			return bound
		}
	}
	return r.Report.Cut
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
