// Package document makes one file of HTML that needs nothing beside it: no network, no
// other file, today or in years. It knows how sections, tables and figures look, in light
// and dark, on a phone and by keyboard, and nothing of what they are about.
//
//	d := Document{Title: "crash-restart, seed 1"}
//	d.Add("Verdicts", Prose("Two clients held the lock at once."), table)
//	err := d.Write(out)
//
// All texts are plain: whatever a history says is shown and not run. Beside the escapes of
// html/template the page's own content policy sees to that: no script runs but those that
// the page was made with.
package document

import (
	"crypto/sha256"
	_ "embed" // for what all pages have in common
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// Document is a page.
type Document struct {
	Title    string
	Lead     string // what it is, in one paragraph; may be empty
	Sections []Section

	// Foot is how it was made: lines at the end.
	Foot []string

	anchors map[string]bool // that were made
}

// Section is a part of a page, to which a link at its top leads.
type Section struct {
	ID     string // its anchor; no two of a document have the same
	Title  string
	Blocks []Block
}

// Block is one piece of a section. What it returns is taken as it is: a block escapes its
// texts itself, best by html/template.
type Block interface {
	HTML() (template.HTML, error)
}

// Active is a block that does not look or work without styles or scripts of its own.
type Active interface {
	Block
	Assets() []Assets
}

// Assets are what all blocks of one kind need, once a page.
type Assets struct {
	Name   string // of the kind
	Style  string // CSS
	Script string // JavaScript: strict, a scope of its own, run when the page has been read
}

// Add appends a section. Its anchor is made of its title.
func (d *Document) Add(title string, blocks ...Block) {
	d.Sections = append(d.Sections, Section{ID: d.Anchor("s", title), Title: title, Blocks: blocks})
}

// Anchor makes an anchor of words, which it has not made of others yet.
func (d *Document) Anchor(words ...string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(strings.Join(words, "-")))
	id := plain
	for n := 2; d.anchors[id]; n++ {
		id = fmt.Sprintf("%s-%d", plain, n)
	}
	if d.anchors == nil {
		d.anchors = map[string]bool{}
	}
	d.anchors[id] = true
	return id
}

var (
	//go:embed document.html
	frame string
	// Colours are the colours of every page, as custom properties of CSS: what is drawn for
	// a page and for a file of its own has the same in both.
	//go:embed colours.css
	Colours string

	//go:embed document.css
	style string
	//go:embed document.js
	script string

	page = template.Must(template.New("document").Parse(frame))
)

// baseAssets is what every page needs.
func baseAssets() Assets { return Assets{Name: "document", Style: Colours + style, Script: script} }

// Write writes the page.
func (d *Document) Write(out io.Writer) error {
	view, err := d.view()
	if err != nil {
		return err
	}
	return page.Execute(out, view)
}

// view is a document as the template has it.
type view struct {
	*Document
	Parts   []part
	Styles  []template.CSS
	Scripts []template.JS
	Policy  string
}

type part struct {
	ID, Title string
	Blocks    []template.HTML
}

func (d *Document) view() (view, error) {
	v := view{Document: d}
	needs := []Assets{baseAssets()}
	for _, s := range d.Sections {
		p := part{ID: s.ID, Title: s.Title}
		for _, b := range s.Blocks {
			text, err := b.HTML()
			if err != nil {
				return v, fmt.Errorf("section %s: %w", s.Title, err)
			}
			p.Blocks = append(p.Blocks, text)
			if a, ok := b.(Active); ok {
				needs = append(needs, a.Assets()...)
			}
		}
		v.Parts = append(v.Parts, p)
	}
	v.addAssets(needs)
	return v, nil
}

// addAssets gives the page what its blocks need, each kind once, and the policy by which
// nothing else is run or fetched.
func (v *view) addAssets(needs []Assets) {
	seen := map[string]bool{}
	var hashes []string
	for _, a := range needs {
		if seen[a.Name] {
			continue
		}
		seen[a.Name] = true
		if a.Style != "" {
			v.Styles = append(v.Styles, template.CSS(a.Style))
		}
		if a.Script != "" {
			js := "(() => {\n\"use strict\";\n" + a.Script + "})();\n"
			v.Scripts = append(v.Scripts, template.JS(js))
			sum := sha256.Sum256([]byte(js))
			hashes = append(hashes, fmt.Sprintf("'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:])))
		}
	}
	v.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src " + strings.Join(hashes, " ")
}
