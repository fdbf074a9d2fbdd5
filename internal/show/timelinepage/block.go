package timelinepage

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Block returns the timeline as a block of a page.
func (m Model) Block() document.Active { return block{m} }

type block struct{ m Model }

var (
	//go:embed page
	files embed.FS

	blockTemplate = template.Must(template.ParseFS(files, "page/block.html"))
)

// scripts are the files of the script, in the order in which they are joined: constants and
// classes come before their uses.
var scripts = []string{
	"times", "make", "spans", "states", "view", "lanes", "brush", "words", // shared
	"draw", "samples", "axis", "strip", "curve", "messages", // drawing
	"stage", "hit", "pointer", "keys", "player", // input
	"finds", "details", "text", // the texts beside the drawing
	"timeline", "open",
}

// HTML returns the findings as text, and the model as JSON for the script.
func (b block) HTML() (template.HTML, error) {
	model, err := json.Marshal(b.m) // escapes < and >, so no text ends the script
	if err != nil {
		return "", fmt.Errorf("the model of a timeline: %w", err)
	}
	var out strings.Builder
	err = blockTemplate.Execute(&out, struct {
		Omitted string
		Finds   []findingView
		JSON    template.JS
	}{b.m.Omitted, b.m.views(), template.JS(model)})
	return template.HTML(out.String()), err
}

// AsText returns [Model.Text]. It does not wrap lines.
func (b block) AsText(int) string {
	var text strings.Builder
	_ = b.m.Text(&text) // a builder returns no errors
	return text.String()
}

// Assets returns the script that draws timelines.
func (b block) Assets() []document.Assets {
	var script strings.Builder
	for _, name := range scripts {
		script.WriteString(file(name + ".js"))
	}
	return []document.Assets{{Name: "timeline", Style: file("timeline.css"), Script: script.String()}}
}

// file returns an embedded file.
func file(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // scripts has a wrong name
	}
	return string(text)
}

// findingView is a finding as the template shows it.
type findingView struct {
	Finding
	Heads []propertyHeading
	Steps []stepView
	Mark  document.Mark
	Where string // "": no place
}

// stepView is a step with its anchor.
type stepView struct {
	Step
	ID string
}

// propertyHeading is a property of a finding.
type propertyHeading struct {
	ID, Property string
	Times        string // "": once
}

func (m Model) views() []findingView {
	all := make([]findingView, len(m.Finds))
	for i, f := range m.Finds {
		all[i] = findingView{Finding: f, Mark: document.Open, Heads: []propertyHeading{m.heading(f.Property, f.Count)}}
		for _, same := range f.Also {
			all[i].Heads = append(all[i].Heads, m.heading(same.Property, same.Count))
		}
		for n, step := range f.Story {
			step.Text = strings.TrimRight(step.Text, ".;") // they are numbered
			all[i].Steps = append(all[i].Steps, stepView{step, stepAnchor(all[i].Heads[0].ID, n)})
		}
		if f.Verdict == checker.Violated {
			all[i].Mark = document.Bad
		}
		if f.From != 0 || f.To != 0 {
			all[i].Where = fmt.Sprintf("from %v to %v", f.From, f.To)
		}
	}
	return all
}

func (m Model) heading(property string, count int) propertyHeading {
	code, _, _ := strings.Cut(property, " ")
	h := propertyHeading{ID: m.Anchor + "find-" + code, Property: property}
	if count > 1 {
		h.Times = textfmt.Count(count, "time")
	}
	return h
}
