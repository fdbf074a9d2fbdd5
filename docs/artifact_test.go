package docs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// citation is a reference of CITATION.cff.
type citation struct {
	Type    string           `yaml:"type"`
	Title   string           `yaml:"title"`
	Authors []map[string]any `yaml:"authors"`
	Year    int              `yaml:"year"`
	URL     string           `yaml:"url"`
}

// CITATION.cff has what version 1.2.0 of its schema requires, and nothing that it does not know
// (https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema.json).
func TestCitation(t *testing.T) {
	text := []byte(fileText(t, "CITATION.cff"))
	var c struct {
		Version    string           `yaml:"cff-version"`
		Message    string           `yaml:"message"`
		Type       string           `yaml:"type"`
		Title      string           `yaml:"title"`
		Abstract   string           `yaml:"abstract"`
		Authors    []map[string]any `yaml:"authors"`
		License    string           `yaml:"license"`
		Repository string           `yaml:"repository-code"`
		URL        string           `yaml:"url"`
		Keywords   []string         `yaml:"keywords"`
		Preferred  citation         `yaml:"preferred-citation"`
		References []citation       `yaml:"references"`
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Version != "1.2.0" || c.Message == "" || c.Title == "" || len(c.Authors) == 0 || c.Type != "software" {
		t.Errorf("cff-version, message, title, authors or type: %+v", c)
	}
	if c.License != "Apache-2.0" || c.Repository != "https://github.com/lockstorm/lockstorm" {
		t.Errorf("license %q, repository %q", c.License, c.Repository)
	}
	if p := c.Preferred; p.Type != "software" || p.Title != c.Title || p.URL != c.URL || !slices.EqualFunc(p.Authors, c.Authors, maps.Equal) {
		t.Errorf("the preferred citation %+v is of something else", p)
	}
	bibtex := fileText(t, "docs/artifact.md")
	for _, field := range []string{"{" + c.Title + "}", fmt.Sprintf("{%d}", c.Preferred.Year), "{" + c.URL + "}", "no DOI"} {
		if !strings.Contains(bibtex, field) {
			t.Errorf("the reference in docs/artifact.md lacks %s", field)
		}
	}
	people := slices.Clone(c.Authors)
	for _, r := range c.References {
		if r.Type != "article" || r.Title == "" || len(r.Authors) == 0 {
			t.Errorf("reference %+v", r)
		}
		people = append(people, r.Authors...)
	}
	for _, p := range people { // a person, or an entity, which has a name
		for field := range p {
			if !slices.Contains([]string{"name", "family-names", "given-names"}, field) {
				t.Errorf("an author has %q", field)
			}
		}
		if _, entity := p["name"]; entity == (p["family-names"] != nil) {
			t.Errorf("%v is neither a person nor an entity", p)
		}
	}
}

// makeTarget matches a target of make in a sentence or in a block of commands.
var makeTarget = regexp.MustCompile("(?m)(?:`|^(?:\\$ )?)make ([a-z-]+)")

// Law: a target of make that a page names exists.
func TestTargetsThatPagesName(t *testing.T) {
	makefile := fileText(t, "Makefile")
	checked := 0
	for name := range pages(t) {
		text := fileText(t, name)
		for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
			if checked++; !strings.Contains("\n"+makefile, "\n"+m[1]+":") {
				t.Errorf("%s: there is no target %s", name, m[1])
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d targets found: this test looks in the wrong place", checked)
	}
}
