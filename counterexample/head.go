package counterexample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
)

// header is what stands above porcupine's drawing.
var header = template.Must(template.New("header").Parse(`<style>
#legend { position: static; }
#legend svg { overflow: visible; }
#canvas { margin-top: 0.5em; }
header { max-width: 60em; font-size: 0.9rem; line-height: 1.4; }
h1 { font-size: 1.2rem; }
h2 { font-size: 1rem; margin-bottom: 0.2em; }
p { margin: 0.3em 0; }
</style>
<header>
<h1>{{.Title}}</h1>
{{if .Cut}}<h2>{{range .Findings}}{{.Property.Code}} {{end}}unknown</h2>
<p>{{.Cut}}</p>
{{else}}{{range .Findings}}<h2>{{.Property.Code}} {{.Property.Title}}: {{.Verdict}}{{if gt .Count 1}} ({{.Count}} times; this is the first){{end}}</h2>
<p>{{.Story}}</p>
{{end}}{{end}}<p>Shown: {{.What}}, from {{.From}} to {{.To}}. {{.Result}}</p>
{{if .Left}}<p>Not shown: {{.Left}}.</p>
{{end}}{{if .Broken}}<p>The history cannot be read further: {{.Broken}}</p>
{{end}}<p>Time runs to the right, and not to scale: every instant at which something begins or ends gets a place of its own. Point at a box for its times; click it to see the order that was tried.</p>
</header>
`))

// naming gives the rows of the operations the names of their clients, which porcupine
// numbers from 0, and takes away what brings the other rows into their order. Without it
// the picture is the same, with other labels.
const naming = `<script>
  const names = %s
  const labels = document.querySelectorAll('#canvas svg > g:first-child > text')
  for (let i = 0; i < names.length && i < labels.length; i++) labels[i].textContent = names[i]
  for (const l of labels) l.textContent = l.textContent.replace(/^[!~] /, '')
</script>
`

// errTemplate says that porcupine's page is not of the form that is known.
var errTemplate = errors.New("counterexample: porcupine's page is another than it was")

// page is porcupine's page with what was found above its drawing.
func (p Picture) page(e *excerpt, d *drawing, result porcupine.CheckResult, info porcupine.LinearizationInfo) ([]byte, error) {
	var drawn, above bytes.Buffer
	if err := porcupine.Visualize(d.model, info, &drawn); err != nil {
		return nil, err
	}
	if err := header.Execute(&above, map[string]any{
		"Title": p.title(e), "Findings": p.Findings, "Cut": p.cut, "What": e.what(), "From": at(d.from), "To": at(d.to),
		"Result": e.made(result, len(d.operations)), "Left": strings.Join(d.left, ", "), "Broken": e.broken,
	}); err != nil {
		return nil, err
	}
	clients := d.clients
	if len(clients) == 0 {
		clients = []string{""} // porcupine leaves room for one
	}
	names, err := json.Marshal(clients) // escapes what HTML would read
	if err != nil {
		return nil, err
	}
	page := drawn.String()
	for _, part := range []struct{ mark, with string }{
		{"<title>Porcupine</title>", "<title>" + template.HTMLEscapeString(p.title(e)) + "</title>"},
		{"<body>", "<body>\n" + above.String()},
		{"</body>", fmt.Sprintf(naming, names) + "</body>"},
	} {
		if strings.Count(page, part.mark) != 1 {
			return nil, errTemplate
		}
		page = strings.Replace(page, part.mark, part.with, 1)
	}
	return []byte(page), nil
}

// title names the run as well, if it has a name.
func (p Picture) title(e *excerpt) string {
	title := p.Findings[0].Property.Title() + " " + p.Findings[0].Verdict.String()
	if p.cut != "" {
		title = "the history is cut short"
	}
	if e.header.Scenario != "" {
		title = e.header.Scenario + ": " + title
	}
	if e.header.Backend != "" {
		title += fmt.Sprintf(" (%s, seed %d)", e.header.Backend, e.header.Seed)
	}
	return title
}

// what says what is shown.
func (e *excerpt) what() string {
	if e.place.Resource == "" {
		return "all resources"
	}
	return fmt.Sprintf("resource %q", e.place.Resource)
}

// made says what porcupine makes of what is shown.
func (e *excerpt) made(result porcupine.CheckResult, operations int) string {
	switch {
	case operations == 0:
		return "There is nothing in it that porcupine could order."
	case result == porcupine.Illegal:
		return "Porcupine finds no order of these operations in which " + specifications[e.subject] + "."
	case result == porcupine.Ok:
		return "Porcupine finds an order of these operations in which " + specifications[e.subject] + "."
	}
	return "Porcupine did not come to an end of its search for an order of these operations."
}

// specifications say what the models ask for.
var specifications = map[checker.Property]string{
	checker.Lease:   "one client at a time holds the lock, until its validity ends",
	checker.Section: "one client at a time is in its section",
	checker.Fence:   "one client at a time holds the lock, and fences grow",
	checker.Effect:  "each section reads what the one before it wrote",
}
