package timelinepage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
)

// rotation returns the events of clients that hold a lock in turn, n times, each with keys on
// five nodes and an access to the guarded resource. In the hold number wrong, if it is not 0,
// another client is granted the lock as well.
func rotation(clients, n, wrong int) (history.Header, []history.Event) {
	var all []history.Event
	for i := range n {
		begin := ms(20 * float64(i+1))
		add := func(at float64, e history.Event) {
			if e.Time, e.Resource = begin+ms(at), "invoice-7"; e.Client == 0 {
				e.Client, e.Token = i%clients+1, token(i)
			}
			all = append(all, e)
		}
		keys := func(at float64, k history.Kind, reason string) {
			for node := 1; node <= 5; node++ {
				add(at, history.Event{Kind: k, Node: node, Reason: reason})
			}
		}
		granted := history.Event{Kind: history.Granted, TTL: time.Second, Until: int64(begin) + 1e9, Validity: time.Second - 2*time.Millisecond, K: 5}
		add(0, history.Event{Kind: history.Acquire, TTL: time.Second})
		keys(1, history.KeySet, "")
		add(2, granted)
		if i+1 == wrong {
			granted.Client, granted.Token = (i+1)%clients+1, "intruder"
			for at, k := range []history.Kind{history.Acquire, history.Granted, history.Release, history.Released} {
				e := granted
				e.Kind, e.Outcome = k, history.OK
				add(2.5+float64(at)/2, e)
			}
		}
		add(5, history.Event{Kind: history.Read})
		add(6, history.Event{Kind: history.ReadDone, Outcome: history.OK, Value: int64(i)})
		add(7, history.Event{Kind: history.Write, Value: int64(i + 1)})
		add(8, history.Event{Kind: history.Apply, Value: int64(i + 1)})
		add(9, history.Event{Kind: history.WriteDone, Outcome: history.OK, Value: int64(i + 1)})
		add(10, history.Event{Kind: history.Release})
		keys(11, history.KeyGone, history.Deleted)
		add(12, history.Event{Kind: history.Released, Outcome: history.OK, K: 5})
	}
	return history.Header{Nodes: 5, Clients: clients, LongestTTL: time.Second, Keys: true}, append(all, history.Event{Time: ms(20 * float64(n+1)), Kind: history.End})
}

func storedRotation(clients, n, wrong int) storedRun {
	h, events := rotation(clients, n, wrong)
	return write(h, events...)
}

const perTurn = 19

// A history of more than MostEvents events is shown around the first violation, or from its
// beginning, and says so. The pair of the violation is shown either way.
func TestLongHistories(t *testing.T) {
	n := 4 * timelinepage.MostEvents / perTurn / 3
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
	const clients = 3 * timelinepage.MostClients
	h := storedRotation(clients, 2*clients+clients/2, 2*clients-10)
	m := read(t, h)
	n := 0
	for _, l := range m.Lanes {
		if l.Group == timelinepage.Clients {
			n++
		}
	}
	if n != timelinepage.MostClients || m.Omitted != "Of 300 clients the 100 busiest are shown." {
		t.Errorf("%d clients are shown: %s", n, m.Omitted)
	}
	checkFindings(t, h.Report, m)
	checkOrder(t, m)
}

// Too many accesses are left out, and counted.
func TestManyAccesses(t *testing.T) {
	const n = timelinepage.MostAccesses/2 + 1
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
	if left := pieces(m, timelinepage.Access); len(left) > 0 {
		t.Errorf("%d accesses are shown", len(left))
	}
}
