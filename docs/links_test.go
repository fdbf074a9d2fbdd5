package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const root = ".."

var (
	fence   = regexp.MustCompile("^ *(```|~~~)")
	code    = regexp.MustCompile("`[^`]*`")
	source  = regexp.MustCompile("`([a-z0-9_./-]+/[a-z0-9_]+\\.go)`")
	link    = regexp.MustCompile(`\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)(?: "[^"]*")?\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	markup  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	target  = regexp.MustCompile(`<a (?:id|name)="([^"]*)"`)
)

// page is what a Markdown file leads to, and where to in it one can be led.
type page struct {
	links   []reference
	sources []reference // files of Go that are named
	anchors map[string]bool
}

type reference struct {
	line int
	to   string
}

// read returns the links and anchors of a page, outside code blocks.
func read(text string) page {
	p := page{anchors: map[string]bool{}}
	inside := false
	for i, line := range strings.Split(text, "\n") {
		if fence.MatchString(line) {
			inside = !inside
			continue
		}
		if inside {
			continue
		}
		if h := heading.FindStringSubmatch(line); h != nil {
			p.name(anchor(h[1]))
		}
		for _, t := range target.FindAllStringSubmatch(line, -1) {
			p.name(t[1])
		}
		for _, s := range source.FindAllStringSubmatch(line, -1) {
			p.sources = append(p.sources, reference{i + 1, s[1]})
		}
		for _, l := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
			p.links = append(p.links, reference{i + 1, l[1]})
		}
	}
	return p
}

// name adds an anchor; the second of a name has a number behind it.
func (p page) name(a string) {
	free := a
	for n := 1; p.anchors[free]; n++ {
		free = fmt.Sprintf("%s-%d", a, n)
	}
	p.anchors[free] = true
}

// anchor returns the anchor of a heading, as GitHub makes it.
func anchor(heading string) string {
	heading = markup.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// pages reads all Markdown of the project.
func pages(t *testing.T) map[string]page {
	t.Helper()
	all := map[string]page{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "runs" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(root, name)
		all[filepath.ToSlash(rel)] = read(string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Law: every link within the project leads to a file that is there, and to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	all, checked := pages(t), 0
	for name, p := range all {
		for _, l := range p.links {
			if strings.Contains(l.to, "://") || strings.HasPrefix(l.to, "mailto:") {
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(l.to, "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s:%d: (%s) leads to no file", name, l.line, l.to)
				continue
			}
			if at, known := all[to]; anchor != "" && (!known || !at.anchors[anchor]) {
				t.Errorf("%s:%d: (%s) leads to no heading of %s", name, l.line, l.to, to)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links found: this test looks in the wrong place", checked)
	}
}

// Law: every file of Go that a page names is there.
func TestNamedSourcesExist(t *testing.T) {
	checked := 0
	for name, p := range pages(t) {
		for _, s := range p.sources {
			checked++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(s.to))); err != nil {
				t.Errorf("%s:%d: there is no %s", name, s.line, s.to)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d files found: this test looks in the wrong place", checked)
	}
}

func TestAnchors(t *testing.T) {
	p := read("# The `run` command\n## 2. Why not [this](x.md)?\n```\n# no\n[no](no.md)\n```\n## In CI\n## In CI\n`[no](no.md)` [a](b.md#c), [d](e_(f).md \"g\") <a id=\"here\">\n")
	want := []string{"the-run-command", "2-why-not-this", "in-ci", "in-ci-1", "here"}
	for _, w := range want {
		if !p.anchors[w] {
			t.Errorf("there is no anchor %s: %v", w, p.anchors)
		}
	}
	if got := fmt.Sprint(p.links); len(p.anchors) != len(want) || got != "[{2 x.md} {9 b.md#c} {9 e_(f).md}]" {
		t.Errorf("%s, %v", got, p.anchors)
	}
}
