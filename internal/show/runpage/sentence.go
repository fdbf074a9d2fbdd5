package runpage

import (
	"html/template"
	"strings"

	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// lead is the first block of a run: a sentence, and what was expected.
type lead struct {
	Mark    document.Mark
	Clauses []clause
	More    []string
}

// clause is a part of a sentence.
type clause struct {
	Text string
	Link string // anchor of an explanation; may be empty
}

// sentence is the sentence without its links.
func (l lead) sentence() string {
	var text strings.Builder
	for _, c := range l.Clauses {
		text.WriteString(c.Text)
	}
	return text.String()
}

// AsText returns the paragraphs.
func (l lead) AsText(width int) string {
	lines := textfmt.Lines(l.sentence(), width)
	for _, more := range l.More {
		lines = append(lines, textfmt.Lines(more, width)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// HTML returns the paragraphs.
func (l lead) HTML() (template.HTML, error) {
	var out strings.Builder
	err := leadTemplate.Execute(&out, l)
	return template.HTML(out.String()), err
}

// Assets returns the style.
func (l lead) Assets() []document.Assets {
	return []document.Assets{{Name: "lead", Style: leadStyle}}
}

const leadStyle = `.happened { max-width: 62rem; margin: 1rem 0; padding: .25rem 0 .25rem 1.1rem; border-left: .35rem solid var(--line); overflow-wrap: anywhere; }
.happened.good { border-color: var(--good); } .happened.bad, .happened.known { border-color: var(--bad); } .happened.open { border-color: var(--open); }
.happened p { color: var(--soft); font-weight: 400; max-width: none; margin: .3rem 0; }
.happened p.sentence { color: var(--ink); font-size: 1.2rem; line-height: 1.4; text-wrap: pretty; }
@media (max-width: 40rem) { .happened p.sentence { font-size: 1.08rem; } }
@media print { .happened p.sentence { font-size: 11pt; } }
`

var leadTemplate = template.Must(template.New("lead").Funcs(template.FuncMap{"short": document.Short}).Parse(
	`<div class="happened {{.Mark}}"><p class="sentence">{{range .Clauses}}{{if .Link}}<a href="{{.Link}}">{{short .Text}}</a>{{else}}{{short .Text}}{{end}}{{end}}</p>{{range .More}}<p>{{short .}}</p>{{end}}</div>`))
