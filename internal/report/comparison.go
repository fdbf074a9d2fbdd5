package report

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Comparison adds what locks have shown in trials: all trials together, and each by itself.
// stopped says that this was before the end.
func (r *Report) Comparison(c Comparison, versions map[string]string, stopped bool) {
	records := c.Records(c.Trials)
	if len(records) == 0 {
		r.Add("The locks compared", document.Notice{Mark: document.Open, Text: "Nothing is known of any lock."})
		return
	}
	all := tableOf(Matrix(records), bySign)
	all.Filters = true
	blocks := []document.Block{}
	for _, d := range c.Deviations() {
		blocks = append(blocks, document.Notice{Mark: markOf(d.Conclusion), Text: d.Text})
	}
	if stopped {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: stoppedNote})
	}
	if len(blocks) == 0 {
		blocks = append(blocks, document.Notice{Mark: document.Good, Text: "Every lock is what is said of it."})
	}
	blocks = append(blocks, all)
	for l := range strings.Lines(c.Legend()) {
		blocks = append(blocks, document.Prose(strings.TrimSpace(l)))
	}
	blocks = append(blocks, document.Heading("First violations"), tableOf(Firsts(records), nil))
	var about document.Facts
	for _, l := range c.Locks {
		text := l.Summary + ". " + l.Lock.Words()
		if remark := scenarios.Remark("compare-" + l.Name); remark != "" {
			text += ". " + remark
		}
		about = append(about, document.Fact{Name: l.Name, Value: text})
	}
	blocks = append(blocks, document.Fold{Summary: "the locks", Blocks: []document.Block{about}})
	for _, t := range c.Trials {
		fold := document.Fold{Summary: fmt.Sprintf("trial %s: %s", t.Name, t.Summary)}
		if some := c.Records([]scenarios.Trial{t}); len(some) > 0 {
			for _, f := range some[0].Shown[0].Scenario.Plan {
				fold.Blocks = append(fold.Blocks, document.Prose(fmt.Sprintf("Plan for %s: %v", some[0].Lock.Name, f)))
			}
			fold.Blocks = append(fold.Blocks, tableOf(Matrix(some), bySign))
			blocks = append(blocks, fold)
		}
	}
	r.Add("The locks compared", blocks...)
	r.made("The comparison", versions, "")
}
