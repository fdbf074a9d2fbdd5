package timeline

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Block is the timeline as a piece of a page.
func (m Model) Block() document.Active { return block{m} }

type block struct{ m Model }

var (
	//go:embed page
	files embed.FS

	place = template.Must(template.ParseFS(files, "page/block.html"))
)

// scripts are what draws, in the order in which they stand in the page: constants and
// classes come before what is made of them.
var scripts = []string{
	"times", "make", "spans", "states", "view", "lanes", "brush", "words", // what the others know
	"draw", "samples", "axis", "strip", // what is drawn
	"stage", "hit", "pointer", "keys", // what is done to it
	"finds", "details", "text", // what stands beside it
	"timeline", "open",
}

// HTML returns what was found, as text, and the model. The script draws the lanes above it
// and makes the tables.
func (b block) HTML() (template.HTML, error) {
	model, err := json.Marshal(b.m) // which writes < and > so that they end no script
	if err != nil {
		return "", fmt.Errorf("the model of a timeline: %w", err)
	}
	var out strings.Builder
	err = place.Execute(&out, struct {
		Omitted string
		Finds   []told
		JSON    template.JS
	}{b.m.Omitted, b.m.told(), template.JS(model)})
	return template.HTML(out.String()), err
}

// AsText returns the same for those who do not see it. Its lines are as long as they are.
func (b block) AsText(int) string {
	var text strings.Builder
	_ = b.m.Text(&text) // a builder takes all
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

// file is what stands in one of the files that were built in.
func file(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // a name in this file is wrong, which every test shows
	}
	return string(text)
}

// told is a find as its text tells it.
type told struct {
	Find
	Heads []head // of the properties that it violates
	Mark  document.Mark
	Where string // empty: nowhere in particular
}

// head is a property of a find.
type head struct {
	ID, Property string
	Times        string // empty: once
}

func (m Model) told() []told {
	all := make([]told, len(m.Finds))
	for i, f := range m.Finds {
		all[i] = told{Find: f, Mark: document.Open, Heads: []head{m.head(f.Property, f.Count)}}
		for _, same := range f.Also {
			all[i].Heads = append(all[i].Heads, m.head(same.Property, same.Count))
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

func (m Model) head(property string, count int) head {
	code, _, _ := strings.Cut(property, " ")
	h := head{ID: m.Anchor + "find-" + code, Property: property}
	if count > 1 {
		h.Times = textfmt.Count(count, "time")
	}
	return h
}
