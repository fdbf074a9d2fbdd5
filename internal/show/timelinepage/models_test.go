package timelinepage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
)

// ms is an instant, in milliseconds since the run began.
func ms(n float64) history.Time { return history.Time(n * 1e6) }

// token is a random-looking token.
func token(n int) string { return fmt.Sprintf("%08x%032x", uint32(n)*2654435761, n) }

// violating is the model of a run with two overlapping holds: of clients 1 and 2, in lanes 0 and 1.
func violating(t *testing.T) timelinepage.Model {
	t.Helper()
	return read(t, run(t, find(t, "crash-restart"), 1, nil))
}

// turns is a run in which clients hold the lock in turn: the hold number n is granted n periods
// after the start, and lasts most of a period.
func turns(grants, clients int, period float64) timelinepage.Model {
	m := timelinepage.Model{End: ms(float64(grants) * period), Clients: clients}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range clients {
		m.Lanes = append(m.Lanes, timelinepage.Lane{Group: timelinepage.Clients, Name: fmt.Sprintf("client %d", i+1)})
	}
	for n := range grants {
		begin := float64(n) * period
		granted, end := begin+period/4, begin+period*(.3+.65*r.Float64()*r.Float64())
		m.Grants = append(m.Grants, timelinepage.Grant{Client: n%clients + 1, Resource: "orders", Token: token(n), Call: ms(begin), Granted: ms(granted), To: ms(end), How: "released"})
		lane := &m.Lanes[n%clients]
		lane.Spans = append(lane.Spans, timelinepage.Span{From: ms(begin), To: ms(granted), State: timelinepage.Waiting, Grant: n}, timelinepage.Span{From: ms(granted), To: ms(end), State: timelinepage.Holding, Grant: n})
		if n%50 == 49 {
			m.Shades = append(m.Shades, timelinepage.Shade{Number: n / 50, Name: "pause of " + lane.Name, From: ms(begin), To: ms(end), Lanes: []int{n % clients}})
		}
	}
	return m
}

// hostile is a run whose every text is markup.
func hostile(t *testing.T) timelinepage.Model {
	t.Helper()
	const text = `</script><script>window.ran=1</script><img src=x onerror="window.ran=1">`
	m := violating(t)
	m.Omitted = text
	for i := range m.Lanes {
		m.Lanes[i].Name += text
		for j := range m.Lanes[i].Spans {
			m.Lanes[i].Spans[j].Text = text
		}
		for j := range m.Lanes[i].Marks {
			m.Lanes[i].Marks[j].Kind, m.Lanes[i].Marks[j].Text = text, text
		}
	}
	for i := range m.Grants {
		m.Grants[i].Resource, m.Grants[i].Token, m.Grants[i].How = text, text, text
	}
	for i := range m.Shades {
		m.Shades[i].Name = text
	}
	for i := range m.Finds {
		m.Finds[i].Property, m.Finds[i].Story = m.Finds[i].Property+text, []timelinepage.Step{{Text: text, Kind: timelinepage.EventStep, Lane: -1}}
	}
	return m
}
