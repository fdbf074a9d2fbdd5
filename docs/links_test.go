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

	"github.com/lockstorm/lockstorm/internal/testkit"
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

	makeTarget = regexp.MustCompile("`make ([a-z-]+)[ `]")
	goTest     = regexp.MustCompile("go test [^\n`]*")
	pkg        = regexp.MustCompile(`\s\./([\w/]+)`)
	pattern    = regexp.MustCompile(`-(?:run|bench)[ =](?:'([^']*)'|(\S+))`)
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
	if checked == 0 {
		t.Error("no link was found: this test looks in the wrong place")
	}
}

// Law: every Go file, Make target and test that a page names is there: go test is content with a name that
// no test has.
func TestWhatPagesNameIsThere(t *testing.T) {
	makefile := text(t, "Makefile")
	for name, p := range pages(t) {
		for _, s := range p.sources {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(s.to))); err != nil {
				t.Errorf("%s:%d: there is no %s", name, s.line, s.to)
			}
		}
		page := text(t, name)
		for _, m := range makeTarget.FindAllStringSubmatch(page, -1) {
			if !strings.Contains("\n"+makefile, "\n"+m[1]+":") {
				t.Errorf("%s: %s: there is no such target", name, m[0])
			}
		}
		for _, command := range goTest.FindAllString(page, -1) {
			folder := pkg.FindStringSubmatch(command)
			if folder == nil || strings.Contains(command, "-locktest.") {
				continue // a test of the reader's own
			}
			var tests strings.Builder
			files, _ := filepath.Glob(filepath.Join(root, folder[1], "*_test.go"))
			for _, f := range files {
				tests.WriteString(text(t, strings.TrimPrefix(f, root+"/")))
			}
			for _, m := range pattern.FindAllStringSubmatch(command, -1) {
				named, _, _ := strings.Cut(m[1]+m[2], "/")
				for one := range strings.SplitSeq(strings.Trim(named, "^()$"), "|") {
					if found, err := regexp.MatchString(`(?m)^func \w*`+one, tests.String()); err != nil || !found {
						t.Errorf("%s: %q: there is no %s", name, command, one)
					}
				}
			}
		}
	}
}

// text is the text of a file of the project.
func text(t *testing.T, name string) string {
	t.Helper()
	return testkit.Read(t, filepath.Join(root, filepath.FromSlash(name)))
}
