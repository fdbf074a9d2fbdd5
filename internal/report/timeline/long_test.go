package timeline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
)

// rotation returns the events of clients that hold a lock in turn, n times, each with keys on
// five nodes and an access to the guarded resource. In the hold number wrong, if it is not 0,
// another client is granted the lock as well.
func rotation(clients, n, wrong int) (history.Header, []history.Event) {
	const ms = history.Time(time.Millisecond)
	h := history.Header{Nodes: 5, Clients: clients, LongestTTL: time.Second, Keys: true}
	var all []history.Event
	for i := 1; i <= n; i++ {
		begin := history.Time(i) * 20 * ms
		e := history.Event{Client: i%clients + 1, Resource: "invoice-7", Token: fmt.Sprintf("%08x%032x", uint32(i*0x9e3779b9), i)}
		at := func(t history.Time, k history.Kind, change func(*history.Event)) {
			v := e
			v.Time, v.Kind = begin+t, k
			if change != nil {
				change(&v)
			}
			all = append(all, v)
		}
		grant := func(e *history.Event) {
			e.TTL, e.Until, e.Validity, e.K = time.Second, int64(begin)+1e9, time.Second-2*time.Millisecond, 5
		}
		at(0, history.Acquire, func(e *history.Event) { e.TTL = time.Second })
		for node := 1; node <= 5; node++ {
			at(1*ms, history.KeySet, func(e *history.Event) { e.Node = node })
		}
		at(2*ms, history.Granted, grant)
		if i == wrong {
			was := e
			e.Client, e.Token = e.Client%clients+1, "intruder"
			at(2*ms, history.Acquire, nil)
			at(3*ms, history.Granted, grant)
			at(4*ms, history.Release, nil)
			at(4*ms, history.Released, func(e *history.Event) { e.Outcome = history.OK })
			e = was
		}
		at(5*ms, history.Read, nil)
		at(6*ms, history.ReadDone, func(e *history.Event) { e.Outcome = history.OK; e.Value = int64(i - 1) })
		at(7*ms, history.Write, func(e *history.Event) { e.Value = int64(i) })
		at(8*ms, history.Apply, func(e *history.Event) { e.Value = int64(i) })
		at(9*ms, history.WriteDone, func(e *history.Event) { e.Outcome = history.OK; e.Value = int64(i) })
		at(10*ms, history.Release, nil)
		for node := 1; node <= 5; node++ {
			at(11*ms, history.KeyGone, func(e *history.Event) { e.Node = node; e.Reason = history.Deleted })
		}
		at(12*ms, history.Released, func(e *history.Event) { e.Outcome = history.OK; e.K = 5 })
	}
	return h, append(all, history.Event{Time: history.Time(n+1) * 20 * ms, Kind: history.End})
}

func storedRotation(clients, n, wrong int) storedRun {
	h, events := rotation(clients, n, wrong)
	return write(h, events...)
}

const perTurn = 19

// A history of more than MostEvents events is shown around the first violation, or from its
// beginning, and says so. The pair of the violation is shown either way.
func TestLongHistories(t *testing.T) {
	n := 4 * timeline.MostEvents / perTurn / 3
	for _, wrong := range []int{0, n / 2, n - 1} {
		h := storedRotation(4, n, wrong)
		m := read(t, h)
		if !strings.HasPrefix(m.Omitted, "Of ") || !strings.Contains(m.Omitted, "events 100,000 are shown, from "+m.From.String()+" to "+m.To.String()) {
			t.Errorf("wrong %d: omitted %q", wrong, m.Omitted)
		}
		checkOrder(t, m)
		checkFindings(t, h.Report, m)
		if wrong > 0 && (m.Finds[0].From < m.From || m.Finds[0].To > m.To) {
			t.Errorf("found at %v, and %v to %v is shown", m.Finds[0].From, m.From, m.To)
		}
		if wrong == n/2 && min(m.Finds[0].From-m.From, m.To-m.Finds[0].To) < ms(40_000) {
			t.Errorf("found at %v, which is not in the middle of %v to %v", m.Finds[0].From, m.From, m.To)
		}
		if wrong == 0 && m.From != 20*1e6 || wrong == n-1 && m.To != m.End {
			t.Errorf("wrong %d: %v to %v of %v is shown", wrong, m.From, m.To, m.End)
		}
		for _, l := range m.Lanes {
			for _, s := range l.Spans {
				if s.To < m.From || s.From > m.To {
					t.Fatalf("%s: %+v is shown, outside of %v to %v", l.Name, s, m.From, m.To)
				}
			}
		}
	}
}

// Of too many clients those with findings are shown, even if others are busier.
func TestManyClients(t *testing.T) {
	const clients = 3 * timeline.MostClients
	h := storedRotation(clients, 2*clients+clients/2, 2*clients-10)
	m := read(t, h)
	n := 0
	for _, l := range m.Lanes {
		if l.Group == timeline.Clients {
			n++
		}
	}
	if n != timeline.MostClients || m.Omitted != "Of 300 clients the 100 busiest are shown." {
		t.Errorf("%d clients are shown: %s", n, m.Omitted)
	}
	checkFindings(t, h.Report, m)
	checkOrder(t, m)
}

// Too many accesses are left out, and counted.
func TestManyAccesses(t *testing.T) {
	const n = timeline.MostAccesses/2 + 1
	h, events := rotation(2, n, 0)
	h.Keys = false
	var some []history.Event
	for _, e := range events {
		if e.Kind != history.KeySet && e.Kind != history.KeyGone {
			some = append(some, e)
		}
	}
	m := read(t, write(h, some...))
	if m.Omitted != "10,002 accesses of clients to the guarded resource are not shown." {
		t.Errorf("omitted: %s", m.Omitted)
	}
	if left := pieces(m, timeline.Access); len(left) > 0 {
		t.Errorf("%d accesses are shown", len(left))
	}
}
