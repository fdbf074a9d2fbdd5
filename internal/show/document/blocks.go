package document

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
)

// Mark is the meaning of a piece of a page, which is shown as a colour beside the text.
type Mark string

// The marks.
const (
	Plain Mark = ""
	Good  Mark = "good"  // as desired
	Bad   Mark = "bad"   // not as desired
	Open  Mark = "open"  // undecided
	Known Mark = "known" // not as desired, but announced
)

// Prose is a paragraph.
type Prose string

// HTML returns the paragraph.
func (p Prose) HTML() (template.HTML, error) { return render("prose", string(p)) }

// Heading is a heading within a section.
type Heading string

// HTML returns the heading.
func (h Heading) HTML() (template.HTML, error) { return render("heading", string(h)) }

// Code is a command, or lines of a file.
type Code string

// HTML returns the lines unchanged.
func (c Code) HTML() (template.HTML, error) { return render("code", string(c)) }

// Notice is a highlighted paragraph.
type Notice struct {
	Mark Mark
	Text string
}

// HTML returns the paragraph.
func (n Notice) HTML() (template.HTML, error) { return render("notice", n) }

// Facts is a list of names and values.
type Facts []Fact

// Fact is an entry of [Facts].
type Fact struct {
	Name, Value string
	Link        string // of the value: an address, or an anchor ("#row"); may be empty
}

// HTML returns the list.
func (f Facts) HTML() (template.HTML, error) { return render("facts", f) }

// Fold is blocks that are hidden until the reader opens them.
type Fold struct {
	ID      string // anchor; may be empty. A link to it, or into it, opens the fold
	Summary string
	Open    bool // initially
	Blocks  []Block
}

// HTML returns the folded blocks.
func (f Fold) HTML() (template.HTML, error) {
	var inner strings.Builder
	for _, b := range f.Blocks {
		text, err := b.HTML()
		if err != nil {
			return "", err
		}
		inner.WriteString(string(text))
	}
	return render("fold", struct {
		Fold
		Inner template.HTML
	}{f, template.HTML(inner.String())})
}

// Assets returns the assets of the folded blocks.
func (f Fold) Assets() (all []Assets) {
	for _, b := range f.Blocks {
		if a, ok := b.(Active); ok {
			all = append(all, a.Assets()...)
		}
	}
	return all
}

// Columns are groups of blocks side by side where the page is wide enough.
type Columns [][]Block

// HTML returns the groups.
func (c Columns) HTML() (template.HTML, error) {
	groups := make([][]template.HTML, len(c))
	for i, group := range c {
		for _, b := range group {
			text, err := b.HTML()
			if err != nil {
				return "", err
			}
			groups[i] = append(groups[i], text)
		}
	}
	return render("columns", groups)
}

// Assets returns the assets of all blocks.
func (c Columns) Assets() []Assets { return Fold{Blocks: slices.Concat(c...)}.Assets() }

// Figure is a drawing with a caption and, folded, its data as a table.
type Figure struct {
	ID      string // anchor; may be empty
	SVG     []byte // trusted: its texts are escaped
	Caption string
	Data    *Table // nil: the caption says it all

	// Head is the upper part of a tall drawing, and as wide. It stays in sight while the reader
	// scrolls. Then Width is the width of the drawing in pixels: on a narrower page it is made
	// smaller, and where its texts would be illegible it scrolls.
	Head  []byte
	Width float64

	Needs []Assets // assets of the drawing
}

// leastScale is the smallest scale of a drawing with a head. Its texts have 14 pixels.
const leastScale = .68

// prologue matches what precedes the element in a standalone SVG.
var prologue = regexp.MustCompile(`(?s)^.*?(<svg)`)

// Assets returns the assets of the drawing.
func (f Figure) Assets() []Assets { return f.Needs }

// HTML returns the figure.
func (f Figure) HTML() (template.HTML, error) {
	var data template.HTML
	if f.Data != nil {
		var err error
		if data, err = (Fold{Summary: "as a table", Blocks: []Block{*f.Data}}).HTML(); err != nil {
			return "", err
		}
	}
	return render("figure", struct {
		ID, Caption         string
		Width, Least        float64
		Head, Drawing, Data template.HTML
	}{f.ID, f.Caption, f.Width, f.Width * leastScale, inline(f.Head), inline(f.SVG), data})
}

// inline returns a standalone SVG as an element of a page.
func inline(svg []byte) template.HTML { return template.HTML(prologue.ReplaceAll(svg, []byte("$1"))) }

// blocks are the templates of the blocks.
var blocks = template.Must(template.New("blocks").Funcs(template.FuncMap{"short": Short}).Parse(`
{{define "prose"}}<p>{{short .}}</p>{{end}}
{{define "heading"}}<h3>{{short .}}</h3>{{end}}
{{define "code"}}<pre tabindex="0"><code>{{.}}</code></pre>{{end}}
{{define "notice"}}<p class="notice {{.Mark}}">{{short .Text}}</p>{{end}}
{{define "columns"}}<div class="columns">{{range .}}<div>{{range .}}{{.}}{{end}}</div>{{end}}</div>{{end}}
{{define "facts"}}<dl>{{range .}}<dt>{{short .Name}}</dt><dd>{{if .Link}}<a href="{{.Link}}" rel="noreferrer">{{short .Value}}</a>{{else}}{{short .Value}}{{end}}</dd>{{end}}</dl>{{end}}
{{define "fold"}}<details{{with .ID}} id="{{.}}"{{end}}{{if .Open}} open{{end}}><summary>{{short .Summary}}</summary>{{.Inner}}</details>{{end}}
{{define "figure"}}<figure{{with .ID}} id="{{.}}"{{end}}><div class="scroll">{{if .Head}}<div class="frame" style="min-width: {{.Least}}px; max-width: {{.Width}}px">{{.Head}}{{.Drawing}}</div>{{else}}{{.Drawing}}{{end}}</div><figcaption>{{short .Caption}}</figcaption>{{.Data}}</figure>{{end}}
{{define "table"}}<div class="scroll" tabindex="0" role="group" aria-label="table"><table class="sorts{{if .Filters}} filters{{end}}{{if .Carded}} cards{{end}}"{{if .Filters}} data-filters{{end}}>
{{with .Caption}}<caption>{{short .}}</caption>
{{end}}<thead><tr>{{range .Columns}}<th scope="col"{{with .Help}} title="{{.}}"{{end}}>{{short .Name}}</th>{{end}}</tr></thead>
<tbody>
{{$width := len .Columns}}{{range .Views}}{{if .Heading}}<tr class="head"><th colspan="{{$width}}">{{short .Heading}}</th></tr>
{{else}}<tr{{with .ID}} id="{{.}}"{{end}}>{{range .Views}}<td class="{{.Class}}"{{with .Sort}} data-sort="{{.}}"{{end}}{{with .Label}} data-label="{{.}}"{{end}}>{{if .Link}}<a href="{{.Link}}">{{short .Text}}</a>{{else}}{{short .Text}}{{end}}</td>{{end}}</tr>
{{end}}{{end}}</tbody></table></div>{{end}}
`))

func render(name string, data any) (template.HTML, error) {
	var out strings.Builder
	err := blocks.ExecuteTemplate(&out, name, data)
	return template.HTML(out.String()), err
}
