package timelinepage_test

import (
	"fmt"
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
