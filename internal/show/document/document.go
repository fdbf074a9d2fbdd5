// Package document makes a standalone HTML file: it needs no network and no other file. It lays
// out sections, tables and figures, in light and dark, on a phone and by keyboard, whatever
// their content.
//
//	d := Document{Title: "crash-restart, seed 1"}
//	d.Add("Verdicts", Prose("Two clients held the lock at once."), table)
//	err := d.Write(out)
//
// All texts are escaped by html/template. As a second line of defence, the page's content
// security policy allows only the page's own scripts.
package document

import (
	"crypto/sha256"
	_ "embed" // for the assets of all pages
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// Document is a page.
type Document struct {
	Title    string
	Lead     string // one paragraph; may be empty
	Sections []Section

	// Foot is lines at the end: how the page was made.
	Foot []string

	anchors map[string]bool // in use
}

// Section is a part of a page, with a link at the top of the page.
type Section struct {
	ID     string // anchor, unique in the document
	Title  string
	Blocks []Block
}

// Block is a piece of a section. Its HTML is not escaped again: a block escapes its texts, best
// by html/template.
type Block interface {
	HTML() (template.HTML, error)
}

// Active is a block with styles or scripts of its own.
type Active interface {
	Block
	Assets() []Assets
}

// Assets are what all blocks of one kind need once a page.
type Assets struct {
	Name   string // of the kind of block
	Style  string // CSS
	Script string // JavaScript: strict, in its own scope, run after the page is parsed
}

// Scoped is the script, strict and in its own scope.
func (a Assets) Scoped() string { return "(() => {\n\"use strict\";\n" + a.Script + "})();\n" }

// PageAssets are those of every page.
func PageAssets() Assets { return Assets{Name: "document", Style: Colours + style, Script: script} }

// Add appends a section. Its anchor is derived from its title.
func (d *Document) Add(title string, blocks ...Block) {
	d.Sections = append(d.Sections, Section{ID: d.Anchor("s", title), Title: title, Blocks: blocks})
}

// Anchor derives a unique anchor from words.
func (d *Document) Anchor(words ...string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(strings.Join(words, "-")))
	plain = plain[:min(len(plain), mostLetters)]
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
	// Colours are the colours of every page, as CSS custom properties. Standalone drawings use
	// the same.
	//go:embed colours.css
	Colours string

	//go:embed document.css
	style string
	//go:embed document.js
	script string

	page = template.Must(template.New("document").Funcs(template.FuncMap{"short": Short}).Parse(frame))
)

// Write writes the page.
func (d *Document) Write(out io.Writer) error {
	view, err := d.view()
	if err != nil {
		return err
	}
	return page.Execute(out, view)
}

// view is the data of the template.
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
	needs := []Assets{PageAssets()}
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

// addAssets adds the assets of the blocks, each kind once, and the policy that allows nothing
// else.
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
			js := a.Scoped()
			v.Scripts = append(v.Scripts, template.JS(js))
			sum := sha256.Sum256([]byte(js))
			hashes = append(hashes, fmt.Sprintf("'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:])))
		}
	}
	v.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src " + strings.Join(hashes, " ")
}
