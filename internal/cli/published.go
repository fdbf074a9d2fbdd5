package cli

import (
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// publications is a debate whose rows repeat published results.
type publications struct{ debate }

func newPublications() *publications {
	topic := scenarios.Topic{Name: "Published results"}
	p := &publications{debate{unclaimed: true, losses: map[string]string{}}}
	for _, r := range scenarios.Published() {
		topic.Rows = append(topic.Rows, scenarios.Row{Scenario: r.Scenario, Sources: r.Sources})
		p.losses[r.Name] = r.Measurement
	}
	p.topics = []scenarios.Topic{topic}
	return p
}

func (*publications) file() string  { return results.PublishedFile }
func (*publications) title() string { return "published results" }

// usual makes one run at a time on real servers, because servers that wait for a core change the
// figures. An interval needs six.
func (*publications) usual(b runner.Backend) (runs, parallel int) {
	if b.Exact {
		return 100, sideBySide(b)
	}
	return 6, 1
}

// widestLoss is as wide as the text of a share that was lost.
const widestLoss = "00000 of 00000 updates, 100.0 % [00.0, 00.0]"

// withLosses adds the column with the share of updates or grants that was lost, if the rows have one.
func (d *debate) withLosses(c columns) columns {
	if d.losses == nil {
		return c
	}
	row := c.row
	return columns{
		head:   append(c.head, "lost"),
		row:    func(t runner.Tally) []string { return append(row(t), report.Loss(d.losses[t.Scenario.Name], t)) },
		series: c.series,
	}
}
