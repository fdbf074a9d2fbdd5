package checker_test

import (
	"runtime"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Law: the panel remembers what is live, however long the history is. A hold is some
// 400 bytes: if it kept one of a hundred, the memory would grow by more than is allowed.
func TestOnlyWhatIsLiveIsRemembered(t *testing.T) {
	const (
		calls = 200_000
		grows = 100_000 // bytes, with the clients that take the place of dead ones
	)
	header, events := turnsOf(calls)
	for _, only := range [][]checker.Property{{checker.Lease}, nil} {
		panel := checker.New(header, only...)
		grown := growth(panel, events)
		if grown > grows {
			t.Errorf("the judges %v of a history of %d calls remember %d bytes more after all of it than after a tenth, want at most %d", only, calls, grown, grows)
		}
		if most := 4 * header.Clients; panel.Places() > most {
			t.Errorf("the judges %v of %d clients have remembered %d holds at one time, want at most %d", only, header.Clients, panel.Places(), most)
		}
		if f := panel.Finish().Finding(checker.Lease); f.Verdict != checker.Holds {
			t.Errorf("lease exclusion : %v, %s", f.Verdict, f.Story())
		}
	}
	runtime.KeepAlive(events)
}

// growth returns how many more bytes are in use after all events than after a tenth of them.
func growth(panel *checker.Checker, events []history.Event) int {
	early := len(events) / 10
	for i := range events[:early] {
		panel.Record(&events[i])
	}
	before := heap()
	for i := range events[early:] {
		panel.Record(&events[early+i])
	}
	return heap() - before
}

// heap returns the bytes that are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
