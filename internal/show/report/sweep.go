package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/picture"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Campaign adds the results of a sweep: sentences, charts and tables.
func (r *Report) Campaign(found sweep.Results) error {
	blocks := []document.Block{document.Prose("What is swept: " + strings.TrimSuffix(found.Summary, ".") + ".")}
	if !found.Complete() {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: fmt.Sprintf("Not complete: %d of %s measured.", len(found.Outcomes), textfmt.Count(found.Units(), "point"))})
	}
	mark := document.Good
	if !found.Fit().Good() {
		mark = document.Bad
	}
	for _, l := range CampaignLines(found) {
		blocks = append(blocks, document.Notice{Mark: mark, Text: l})
	}
	var about document.Facts
	for _, p := range found.Params {
		about = append(about, document.Fact{Name: p.Head(), Value: p.Summary})
	}
	for _, f := range SweepFormulas(found) {
		about = append(about, document.Fact{Name: "formula", Value: f})
	}
	about = append(about, document.Fact{Name: "counted", Value: fmt.Sprintf("the runs in which %s (%s) is violated", found.Property.Title(), found.Property.Code())})
	blocks = append(blocks, about)
	if len(found.Outcomes) > 0 {
		drawn, err := picture.Sweep(found)
		if err != nil {
			return err
		}
		figure, err := figureOf(drawn)
		if err != nil {
			return err
		}
		blocks = append(blocks, figure)
	}
	for _, c := range sweep.Curves(found.Points()) {
		blocks = append(blocks, document.Fold{Summary: "every point: " + c.Name, Blocks: []document.Block{document.TableOf(PointsTable(found, c.Outcomes, true), formulaMark)}})
	}
	for _, c := range sweep.Curves(found.Boundaries()) {
		blocks = append(blocks, document.Fold{Summary: "every boundary: " + c.Name, Blocks: []document.Block{document.TableOf(BoundariesTable(found, c.Outcomes), formulaMark)}})
	}
	title := "Sweep: " + found.Sweep
	if found.Backend != r.options.Simulator.Name {
		title += " on " + found.Backend
	}
	r.Add(title, blocks...)
	r.addFoot(fmt.Sprintf("The sweep %s, %s a point, seeds from %d on", found.Sweep, textfmt.Count(found.Runs, "run"), found.First), found.Versions, SweepCommand(found.Head))
	return nil
}

// formulaMark marks results that contradict a formula.
func formulaMark(column, text string) document.Mark {
	switch {
	case column != "inside" && column != "met":
		return document.Plain
	case text == "no":
		return document.Bad
	case text == "left open":
		return document.Open
	}
	return document.Plain
}

// figureOf is a picture on a page, which has its title as a text. Its values are in the tables.
func figureOf(p picture.Picture) (document.Figure, error) {
	title := p.Title
	p.Title = ""
	svg, err := p.SVG()
	svg = bytes.Replace(svg, []byte("<svg "), fmt.Appendf(nil, `<svg class="plot" role="img" aria-label="%s" `, html.EscapeString(title)), 1)
	return document.Figure{
		SVG: svg, Caption: title,
		Needs: []document.Assets{{Name: "plots", Style: ".plot { width: 100%; min-width: 45rem; max-width: 60rem; }\n"}}, // or texts are illegible
	}, err
}

// CampaignLines compares measurements and formulas in sentences.
func CampaignLines(r sweep.Results) (lines []string) {
	if f := r.Fit(); f.Compared > 0 {
		between := ""
		if f.Between > 0 {
			between = fmt.Sprintf("; where it says neither 0 nor 1, at %d of %d", f.Hit, f.Between)
		}
		lines = append(lines, fmt.Sprintf("The formula is inside the 95 %% interval at %d of %s%s. The widest interval of all points is ± %.4f.",
			f.Inside, textfmt.Count(f.Compared, "point"), between, f.HalfWidth)+withoutFormula(f))
		switch outside := f.Compared - f.Inside; {
		case outside > 0 && f.Good():
			lines = append(lines, fmt.Sprintf("%s outside; a tenth of the points, rounded up, may be.", are(outside, "point")))
		case !f.Good():
			lines = append(lines, fmt.Sprintf("The formula does not fit: it is too low at %s, and too high at %s.",
				textfmt.Count(f.TooLow, "point"), textfmt.Count(outside-f.TooLow, "point")))
		}
	} else if f.Points > 0 {
		lines = append(lines, fmt.Sprintf("The widest interval is ± %.4f.", f.HalfWidth))
	}
	all := r.Boundaries()
	if len(all) == 0 {
		return lines
	}
	met := 0
	for _, o := range all {
		if o.Boundary.Met() {
			met++
		}
	}
	lines = append(lines, fmt.Sprintf("The boundary is where the formula has it, as exactly as it was looked for, at %d of %d.", met, len(all)))
	for i, name := range r.Rules() {
		lines = append(lines, fmt.Sprintf("Rule %d, %q, %s", i+1, name, ruleLine(all, name)))
	}
	return lines
}

// are says that there are so many things.
func are(n int, thing string) string {
	return textfmt.Count(n, thing) + map[bool]string{true: " is", false: " are"}[n == 1]
}

// withoutFormula counts the points that no formula covers.
func withoutFormula(f sweep.Fit) string {
	if n := f.Points - f.Compared; n > 0 {
		return fmt.Sprintf(" There is no formula for the other %s.", textfmt.Count(n, "point"))
	}
	return ""
}

// mostFails is how many boundaries are listed at which a rule does not suffice.
const mostFails = 10

// ruleLine says how often a rule of thumb suffices, and where it does not.
func ruleLine(all []sweep.Outcome, name string) string {
	asked := 0
	var fails []string
	for _, o := range all {
		rule, ok := o.Boundary.Rule(name)
		if !ok {
			continue
		}
		asked++
		if rule.Verdict != checker.Holds {
			fails = append(fails, strconv.Itoa(o.Unit))
		}
	}
	text := fmt.Sprintf("suffices at %d of %d", asked-len(fails), asked)
	if n := len(fails); n > mostFails {
		fails = append(fails[:mostFails], fmt.Sprintf("and %d more", n-mostFails))
	}
	if len(fails) > 0 {
		text += "; not at " + strings.Join(fails, ", ")
	}
	return text + "."
}

// priceColumns are the costs of a point. Some are shown on a terminal too.
var priceColumns = []struct {
	head   string
	screen bool
	cell   func(m checker.Measurements) string
}{
	{"availability", true, func(m checker.Measurements) string { return fmt.Sprintf("%.2f %%", 100*m.Availability) }},
	{"longest outage", true, func(m checker.Measurements) string { return textfmt.Duration(m.LongestOutage) }},
	{"median outage", false, func(m checker.Measurements) string { return textfmt.Duration(m.MedianOutage) }},
	{"longest wait", false, func(m checker.Measurements) string { return textfmt.Duration(m.LongestWait) }},
	{"next grant after a death", false, func(m checker.Measurements) string {
		if m.GrantsAfterDeath == 0 {
			return textfmt.Dash("")
		}
		return textfmt.Duration(m.NextGrantAfterDeath)
	}},
	{"acquire p50", false, func(m checker.Measurements) string { return textfmt.Duration(m.AcquireP50) }},
	{"acquire p99", false, func(m checker.Measurements) string { return textfmt.Duration(m.AcquireP99) }},
}

// PointsTable has a line for each point. Columns of the formula are left out if no point has
// one. whole: with all columns.
func PointsTable(r sweep.Results, points []sweep.Outcome, whole bool) *textfmt.Table {
	undecided := slices.ContainsFunc(points, func(o sweep.Outcome) bool { return o.Point.Undecided > 0 })
	formula := slices.ContainsFunc(points, func(o sweep.Outcome) bool { return o.Point.Predicted != nil })
	t := &textfmt.Table{Head: []string{"#"}}
	for _, p := range r.Params {
		t.Head = append(t.Head, p.Head())
	}
	t.Head = append(t.Head, "violated", "share %", "interval %")
	if formula {
		t.Head = append(t.Head, "formula %", "inside")
	}
	if undecided {
		t.Head = append(t.Head, "undecided")
	}
	for _, c := range priceColumns {
		if whole || c.screen {
			t.Head = append(t.Head, c.head)
		}
	}
	for _, o := range points {
		rate := o.Point.Rate()
		lo, hi := rate.Wilson()
		cells := slices.Concat([]string{strconv.Itoa(o.Unit)}, numberTexts(o.At), []string{
			rate.String(), percent(rate.Share()), "[" + percent(lo) + ", " + percent(hi) + "]",
		})
		if formula {
			cells = append(cells, predicted(o.Point), inside(o.Point))
		}
		if undecided {
			cells = append(cells, strconv.Itoa(o.Point.Undecided))
		}
		for _, c := range priceColumns {
			if whole || c.screen {
				cells = append(cells, c.cell(o.Point.Measurements))
			}
		}
		t.Add(cells...)
	}
	return t
}

// predicted is the formula's value, in percent.
func predicted(m *sweep.PointResult) string {
	if m.Predicted == nil {
		return textfmt.Dash("")
	}
	return percent(*m.Predicted)
}

// percent prints a share in percent, one digit more than the precision of the intervals of ten
// thousand runs.
func percent(share float64) string { return fmt.Sprintf("%.2f", 100*share) }

func inside(m *sweep.PointResult) string {
	switch in, known := m.Inside(); {
	case !known:
		return textfmt.Dash("")
	case in:
		return "yes"
	}
	return "no"
}

// BoundariesTable has a line for each boundary.
func BoundariesTable(r sweep.Results, boundaries []sweep.Outcome) *textfmt.Table {
	t := &textfmt.Table{Head: []string{"#"}}
	for _, p := range r.Params[1:] {
		t.Head = append(t.Head, p.Head())
	}
	t.Head = append(t.Head, "violated at", "holds at", "formula", "met")
	rules := r.Rules()
	for i := range rules {
		t.Head = append(t.Head, fmt.Sprintf("rule %d", i+1))
	}
	for _, o := range boundaries {
		b := o.Boundary
		met := "no"
		switch {
		case b.Open():
			met = "left open"
		case b.Met():
			met = "yes"
		}
		cells := slices.Concat([]string{strconv.Itoa(o.Unit)}, numberTexts(o.At), []string{optionalText(b.LastViolated), optionalText(b.FirstHolding), trialText(b.Formula), met})
		for _, name := range rules {
			cell := textfmt.Dash("")
			if rule, ok := b.Rule(name); ok {
				cell = trialText(rule.Trial)
			}
			cells = append(cells, cell)
		}
		t.Add(cells...)
	}
	return t
}

// trialText is an x and the verdict there.
func trialText(t sweep.Trial) string { return numberText(t.X) + " " + summary.Sign(t.Verdict) }

func optionalText(x *float64) string {
	if x == nil {
		return textfmt.Dash("")
	}
	return numberText(*x)
}

// numberText prints a number with six digits. The files have all of them.
func numberText(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func numberTexts(at []float64) (list []string) {
	for _, x := range at {
		list = append(list, numberText(x))
	}
	return list
}

// SweepCommand is the command line that repeats the sweep.
func SweepCommand(h sweep.Head) string {
	text := cmp.Or(h.Command, "lockstorm sweep "+h.Sweep)
	for _, a := range BackendArgs(h.Backend, h.Versions) {
		text += " " + a
	}
	if len(h.Only) > 0 {
		text += " --points " + strings.ReplaceAll(strings.Trim(fmt.Sprint(h.Only), "[]"), " ", ",")
	}
	return text + fmt.Sprintf(" --runs %d --seed %d --out DIR", h.Runs, h.First)
}

// SweepFormulas states the formulas of the measured curves in words, each once.
func SweepFormulas(r sweep.Results) (list []string) {
	if r.Formula != "" {
		return []string{r.Formula}
	}
	i := slices.IndexFunc(series.All, func(s series.Named) bool { return s.Name == r.Sweep })
	if i < 0 || series.All[i].Formula == nil {
		return nil
	}
	for _, c := range sweep.Curves(r.Outcomes) {
		if text := series.All[i].Formula(c.Name); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
