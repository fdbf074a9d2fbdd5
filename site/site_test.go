// Package site has the tests of the site: its navigation, and the built pages in a browser, which
// make site builds first.
package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lockstorm/lockstorm/internal/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// base is the path of the site on its host, as in .vitepress/config.ts.
var base = cmp.Or(os.Getenv("SITE_BASE"), "/lockstorm/")

// Law: every page of docs is in the navigation, once, and nothing else is.
func TestNavigation(t *testing.T) {
	text, err := os.ReadFile("nav.json")
	if err != nil {
		t.Fatal(err)
	}
	var tasks []struct {
		Task  string
		Pages []string
	}
	if err := json.Unmarshal(text, &tasks); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/evidence/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			left[strings.TrimPrefix(filepath.ToSlash(f), "../")] = true
		}
	}
	for _, task := range tasks {
		for _, page := range task.Pages {
			if !left[page] {
				t.Errorf("site/nav.json: %s (%s) is there twice, or is no page of the project", page, task.Task)
			}
			delete(left, page)
		}
	}
	for page := range left {
		t.Errorf("site/nav.json: %s is missing: add it to the task that a reader has with it", page)
	}
}

// served serves the built site below its base, as a host of static files does.
func served(t *testing.T) (handler http.Handler, address string) {
	t.Helper()
	if _, err := os.Stat("dist/index.html"); err != nil {
		t.Fatalf("%v: make site builds it", err)
	}
	handler = http.StripPrefix(strings.TrimSuffix(base, "/"), http.FileServerFS(os.DirFS("dist")))
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return handler, server.URL + base
}

// document is what links lead to and from.
type document struct {
	anchors map[string]bool
	links   []string
}

// parse returns the anchors and links of a page, and what it loads.
func parse(t *testing.T, text string) document {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	d := document{anchors: map[string]bool{}}
	for n := range tree.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" || a.Key == "name" && n.Data == "a":
				d.anchors[a.Val] = true
			case a.Key == "href" || a.Key == "src":
				d.links = append(d.links, a.Val)
			}
		}
	}
	return d
}

// crawl follows the links within the site, and returns its pages by path.
func crawl(t *testing.T, handler http.Handler) map[string]document {
	t.Helper()
	found := map[string]document{}
	for queue := []string{base}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if _, known := found[at]; known {
			continue
		}
		r := httptest.NewRecorder()
		handler.ServeHTTP(r, httptest.NewRequest(http.MethodGet, at, nil))
		if r.Code != http.StatusOK {
			t.Errorf("a link leads to %s: %d %s", at, r.Code, http.StatusText(r.Code))
		}
		found[at] = document{}
		if !strings.HasPrefix(r.Header().Get("Content-Type"), "text/html") {
			continue
		}
		found[at] = parse(t, r.Body.String())
		for _, link := range found[at].links {
			if to, _, local := resolve(at, link); local {
				queue = append(queue, to)
			}
		}
	}
	return found
}

// resolve returns where a link of a page leads. local is false if that is outside of the site.
func resolve(at, link string) (to, anchor string, local bool) {
	if strings.Contains(link, ":") { // another host, data:, mailto:
		return "", "", false
	}
	file, anchor, _ := strings.Cut(link, "#")
	switch {
	case file == "":
		to = at
	case strings.HasPrefix(file, "/"):
		to = file
	default:
		to = path.Join(path.Dir(at+"."), file)
		if strings.HasSuffix(file, "/") {
			to += "/"
		}
	}
	return to, anchor, true
}

// Law: every link within the site leads to a page or file of it, and to an anchor that is there.
// Every page of the navigation is reached.
func TestSiteLinks(t *testing.T) {
	handler, _ := served(t)
	found := crawl(t, handler)
	anchors := 0
	for at, page := range found {
		for _, link := range page.links {
			to, anchor, local := resolve(at, link)
			if !local || anchor == "" || strings.HasPrefix(to, base+"playground/") {
				continue
			}
			anchors++
			if !found[to].anchors[anchor] {
				t.Errorf("%s: the link %s leads to no heading", at, link)
			}
		}
	}
	if pages := slices.Sorted(pagesOf(found)); len(pages) < 40 || anchors < 300 {
		t.Errorf("%d pages and %d anchors found: this test looks in the wrong place: %s", len(pages), anchors, pages)
	}
}

// pagesOf are the paths of what has links.
func pagesOf(found map[string]document) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for at, d := range found {
			if len(d.links) > 0 && !yield(at) {
				return
			}
		}
	}
}

// screens are those on which pages are looked at.
var screens = map[string]browsertest.Screen{
	"light":       browsertest.Desktop,
	"dark":        browsertest.Dark,
	"phone":       {Width: 400, Height: 850, Touch: true},
	"phone, dark": {Width: 400, Height: 850, Touch: true, Dark: true},
}

// looked are pages that have all that a page can have: long tables, code, pictures, wide words.
var looked = []string{"", "overview.html", "docs/test-your-lock.html", "docs/evidence/debate.html", "docs/evidence/scoreboard.html", "docs/scenario-format.html", "docs/evidence/campaign.html", "design.html"}

// Law: no page is wider than its window, complains, or asks another host for anything.
func TestSitePages(t *testing.T) {
	_, address := served(t)
	for name, screen := range screens {
		for _, page := range looked {
			t.Run(name+"/"+page, func(t *testing.T) {
				p := visit(t, address, page, screen)
				if wide := browsertest.Eval[int](p, `document.documentElement.scrollWidth`); int64(wide) > screen.Width {
					t.Errorf("the page is %d pixels wide in a window of %d", wide, screen.Width)
				}
				if dark := browsertest.Eval[bool](p, `document.documentElement.classList.contains("dark")`); dark != screen.Dark {
					t.Errorf("dark is %v, and the system asks for %v", dark, screen.Dark)
				}
				if missing := browsertest.Eval[int](p, `[...document.images].filter((i) => i.offsetParent && i.complete && !i.naturalWidth).length`); missing > 0 {
					t.Errorf("%d pictures are missing", missing)
				}
			})
		}
	}
}

// visit opens a page of the site, and waits until it reacts.
func visit(t *testing.T, address, page string, screen browsertest.Screen) *browsertest.Page {
	t.Helper()
	p := browsertest.Visit(t, address+page, screen)
	p.Until(`document.readyState === "complete" && document.querySelector("#app").__vue_app__`)
	p.Settle()
	return p
}

// A reader searches by keyboard: / opens the search, arrows choose, Enter opens the page.
func TestSiteSearch(t *testing.T) {
	_, address := served(t)
	for _, c := range []struct{ text, path string }{
		{"drift allowance", "docs/"},
		{"exclusion by fences", "docs/"},
		{"watchdog", "docs/"},
	} {
		t.Run(c.text, func(t *testing.T) {
			p := visit(t, address, "overview.html", browsertest.Desktop)
			p.Press("/")
			p.Until(`document.activeElement?.matches(".VPLocalSearchBox input")`)
			p.Press(c.text)
			p.Until(`document.querySelectorAll(".VPLocalSearchBox .result").length > 1`)
			p.Press(browsertest.Down + "\r")
			p.Until(fmt.Sprintf(`!document.querySelector(".VPLocalSearchBox") && location.pathname.startsWith(%q)`, base+c.path))
			first, _, _ := strings.Cut(c.text, " ")
			p.Until(fmt.Sprintf(`document.querySelector(".vp-doc").textContent.toLowerCase().includes(%q)`, first))
		})
	}
}

// A reader goes from the home page into the playground. Links to runs from the time when the
// playground was the whole site lead there, too.
func TestSitePlayground(t *testing.T) {
	_, address := served(t)
	p := visit(t, address, "", browsertest.Desktop)
	browsertest.Eval[any](p, `void document.querySelector(".home .primary").click()`)
	p.Until(fmt.Sprintf(`location.pathname === %q && globalThis.playground?.engine.loaded`, base+"playground/"))

	p = browsertest.Visit(t, address+"#/run?replay=v2.crash-restart.1.13da9815.c78d", browsertest.Desktop)
	p.Until(fmt.Sprintf(`location.pathname === %q && location.hash.startsWith("#/run?replay=v2.crash-restart.1.") && globalThis.lockstorm?.timelines.length === 1`, base+"playground/"))
}

// The four kinds of readers find their first page without scrolling.
func TestSiteHome(t *testing.T) {
	_, address := served(t)
	p := visit(t, address, "", browsertest.Desktop)
	if seen := browsertest.Eval[int](p, `[...document.querySelectorAll(".home .readers a")].filter((a) => a.getBoundingClientRect().bottom <= innerHeight).length`); seen != 4 {
		t.Errorf("%d of 4 first pages are in the window", seen)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := browsertest.Eval[[]string](p, `[...document.querySelectorAll(".home .commands .line")].map((l) => l.textContent.trim())`)
	for _, c := range commands {
		if !strings.Contains(string(readme), "\n$ "+c+"\n") {
			t.Errorf("README.md has no command %q", c)
		}
	}
	if len(commands) == 0 {
		t.Error("the home page shows no command")
	}
}
