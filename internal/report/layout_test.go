package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// screens are a phone, a laptop and a large screen, in light and dark.
var screens = []browsertest.Screen{
	{Width: 400, Height: 800, Touch: true}, {Width: 400, Height: 800, Touch: true, Dark: true},
	{Width: 1400, Height: 1000}, {Width: 1400, Height: 1000, Dark: true},
	{Width: 1920, Height: 1080}, {Width: 1920, Height: 1080, Dark: true},
}

// resized shows a page on another screen, and checks that nothing sticks out of the window.
func resized(t *testing.T, p *browsertest.Page, s browsertest.Screen) {
	t.Helper()
	p.Resize(s)
	if wide := browsertest.Eval[int64](p, `document.documentElement.scrollWidth`); wide > s.Width {
		t.Errorf("the page is %d pixels wide in a window of %d; what sticks out: %v", wide, s.Width, browsertest.Eval[[]string](p,
			`[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll") && e.getBoundingClientRect().right > innerWidth).slice(0, 5).map((e) => e.outerHTML.slice(0, 120))`))
	}
}

// onlyDebate returns a directory with the stored debate, and without its runs.
func onlyDebate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(reference, results.DebateFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, results.DebateFile), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// board is the scoreboard: its first row is calm.
const board = `document.querySelector("#s-scoreboard table")`

// The scoreboard shows the verdicts of all rows on every screen.
func TestBrowserScoreboard(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, onlyDebate(t)), browsertest.Desktop)
	for _, s := range screens {
		resized(t, p, s)
		p.Until(board + `.parentElement.classList.contains("fits")`)
		browsertest.Eval[any](p, `scrollTo(0, 0)`)
		if cut := browsertest.Eval[[]string](p, `[...`+board+`.querySelectorAll("td")].filter((e) => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent).slice(0, 5)`); len(cut) > 0 {
			t.Errorf("%d pixels: these cells are cut: %q", s.Width, cut)
		}
		if first := browsertest.Eval[string](p, `[...`+board+`.tBodies[0].rows].find((r) => r.textContent.includes("calm")).cells[1].innerText`); first != "✓" {
			t.Errorf("%d pixels: the first verdict of calm is %q", s.Width, first)
		}
		top := browsertest.Eval[float64](p, `[...`+board+`.tBodies[0].rows].find((r) => r.textContent.includes("calm")).cells[1].getBoundingClientRect().bottom`)
		if top <= 0 || top > float64(s.Height) {
			t.Errorf("%d pixels: the first verdict ends at %v in a window of %d", s.Width, top, s.Height)
		}
		if s.Width < 1000 {
			labels := browsertest.Eval[string](p, `[...`+board+`.tBodies[0].rows].find((r) => r.textContent.includes("crash-restart")).cells[1].getAttribute("data-label")`)
			if labels != "V1" {
				t.Errorf("on a card the first verdict is of %q", labels)
			}
			continue
		}
		if tall := browsertest.Eval[[]string](p, `[...`+board+`.tBodies[0].rows].filter((r) => r.offsetHeight > 60).map((r) => r.cells[0].textContent)`); len(tall) > 0 {
			t.Errorf("%d pixels: these rows are more than two lines high: %q", s.Width, tall)
		}
		browsertest.Eval[any](p, board+`.rows[40].scrollIntoView({ block: "center" })`)
		p.Settle()
		if head := browsertest.Eval[float64](p, board+`.tHead.rows[0].cells[1].getBoundingClientRect().top`); head < -1 || head > 1 {
			t.Errorf("%d pixels: after scrolling the head is at %v, and not at the top of the window", s.Width, head)
		}
	}

	// A window that is too narrow: the table scrolls in a box, below its head and beside its
	// first column.
	resized(t, p, browsertest.Screen{Width: 800, Height: 900})
	p.Until(`!` + board + `.parentElement.classList.contains("fits")`)
	at := func(cell string) (x, y float64) {
		r := browsertest.Eval[[]float64](p, `((c, b) => [c.left - b.left, c.top - b.top])(`+board+cell+`.getBoundingClientRect(), `+board+`.parentElement.getBoundingClientRect())`)
		return r[0], r[1]
	}
	browsertest.Eval[any](p, board+`.parentElement.scrollTo(300, 600)`)
	p.Settle()
	if _, y := at(`.tHead.rows[0].cells[3]`); y < -1 || y > 1 {
		t.Errorf("scrolled, the head is %v below the top of the box", y)
	}
	if x, _ := at(`.rows[30].cells[0]`); x < -1 || x > 1 {
		t.Errorf("scrolled, the first column is %v from the left of the box", x)
	}
}

// What was expected is said only where it differs.
func TestExpectedWhereItDiffers(t *testing.T) {
	text := page(t, onlyDebate(t))
	for _, head := range []string{">V1<", ">C<", ">as expected<"} {
		wantIn(t, text, head)
	}
	wantIn(t, text, `<p class="notice known">as expected in`, `<p class="notice good">as expected in`)
	for _, head := range []string{">expected</th>", ">remark</th>"} {
		if n := strings.Index(text, head); n >= 0 && n < strings.Index(text, `id="s-the-network"`) {
			t.Errorf("the scoreboard has a column %s", head)
		}
	}
}

// The page of a run begins with what happened, why, and whether it was expected. All of it, and
// the story, leads to the timeline; the messages of a small run follow.
func TestBrowserRunPage(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1")), browsertest.Desktop)
	const lead = `document.querySelector("section .notice")`
	for _, s := range screens {
		resized(t, p, s)
		browsertest.Eval[any](p, `scrollTo(0, 0)`)
		if end := browsertest.Eval[float64](p, lead+`.getBoundingClientRect().bottom`); end > float64(s.Height) {
			t.Errorf("%d pixels: what happened ends at %v, in a window of %d", s.Width, end, s.Height)
		}
	}
	text := browsertest.Eval[string](p, lead+`.innerText`)
	wantIn(t, text, "violated, as this scenario expects.", "Client 2 was granted", "Broken assumption: ")
	if !browsertest.Eval[bool](p, lead+`.compareDocumentPosition(document.querySelector(".timeline")) === Node.DOCUMENT_POSITION_FOLLOWING && !document.querySelector(".notice.good")`) {
		t.Error("the page does not begin with what was violated")
	}
	for _, n := range []int{1, 2, 3, 4, 5} {
		if !browsertest.Eval[bool](p, fmt.Sprintf(`!!document.querySelector("#find-V1-%d > a")`, n)) {
			t.Errorf("the step %d of the story is no link", n)
		}
	}
	if n := browsertest.Eval[int](p, `document.querySelectorAll(".timeline ~ figure .frame").length`); n != 1 {
		t.Errorf("%d diagrams of the messages of a small run", n)
	}
}

// What was found is compared with what was expected in words.
func TestLeads(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = scenarios.Expectations{checker.Lease: checker.Holds, checker.Section: checker.Violated}
	wantIn(t, html.UnescapeString(page(t, filepath.Join(storedRunsOf(t, s, 1), "crash-restart-sim-1"))), `V3 effect exclusion are violated; V1 was expected to be "holds".`)
	s, err = scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, page(t, filepath.Join(storedRunsOf(t, s, 1), "calm-sim-1")), "Nothing is violated, as this scenario expects.", "Kept: V1 lease exclusion")
}

// The diagram of the messages is as wide as the page, with all participants in sight, and its
// head stays. On a phone it scrolls instead of becoming illegible.
func TestBrowserMessageDiagram(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1")), browsertest.Desktop)
	const (
		frame  = `document.querySelector(".frame")`
		head   = frame + `.firstElementChild`
		within = `(([a, b]) => a.top - b.top)([` + head + `, ` + frame + `.parentElement].map((e) => e.getBoundingClientRect()))`
	)
	for _, s := range screens {
		resized(t, p, s)
		browsertest.Eval[any](p, frame+`.scrollIntoView()`)
		p.Settle()
		phone := s.Width < 1000
		if fits := browsertest.Eval[bool](p, frame+`.parentElement.classList.contains("fits")`); fits == phone {
			t.Errorf("%d pixels: the diagram fits: %v", s.Width, fits)
		}
		if high := browsertest.Eval[float64](p, `Math.min(...[...`+frame+`.querySelectorAll(".name")].map((e) => e.getBoundingClientRect().height))`); high < 9 {
			t.Errorf("%d pixels: names are %v pixels high", s.Width, high)
		}
		if phone {
			browsertest.Eval[any](p, frame+`.parentElement.scrollTo(200, 400)`)
			p.Settle()
			if top := browsertest.Eval[float64](p, within); top < -1 || top > 1 {
				t.Errorf("%d pixels: scrolled, the head is %v below the top of the box", s.Width, top)
			}
			continue
		}
		if out := browsertest.Eval[[]string](p, `[...`+frame+`.querySelectorAll(".name")].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.textContent)`); len(out) > 0 {
			t.Errorf("%d pixels: cut off are %q", s.Width, out)
		}
		browsertest.Eval[any](p, `scrollBy(0, 500)`)
		p.Settle()
		if top := browsertest.Eval[float64](p, head+`.getBoundingClientRect().top`); top < -1 || top > 1 {
			t.Errorf("%d pixels: scrolled, the head is at %v", s.Width, top)
		}
	}
}

// The texts of pictures can be read on a phone, without scrolling, and their titles are texts of
// the page.
func TestBrowserPlots(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(reference, "restart-delay")), browsertest.Desktop)
	for _, s := range screens {
		resized(t, p, s)
		if wide := browsertest.Eval[int](p, `[...document.querySelectorAll("figure > .scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1).length`); wide > 0 {
			t.Errorf("%d pixels: %d pictures are cut off", s.Width, wide)
		}
		if size := browsertest.Eval[float64](p, `Math.min(...[...document.querySelectorAll("figure svg text")].map((e) => parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b)))`); size < 9 {
			t.Errorf("%d pixels: a text of a picture has %.1f pixels", s.Width, size)
		}
		if below := browsertest.Eval[int](p, `[...document.querySelectorAll("figure")].filter((e) => e.querySelector("figcaption").getBoundingClientRect().top > e.querySelector("svg").getBoundingClientRect().top).length`); below > 0 {
			t.Errorf("%d pixels: %d titles are below their pictures", s.Width, below)
		}
	}
	if inside := browsertest.Eval[int](p, `[...document.querySelectorAll("figure")].filter((e) => [...e.querySelectorAll("svg text")].some((t) => t.textContent.startsWith("A node comes back"))).length`); inside > 0 {
		t.Errorf("%d titles are drawn", inside)
	}
}

// Names of 10,000 letters fill neither a page nor its text.
func TestBrowserLongNames(t *testing.T) {
	stored, err := os.ReadFile(filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1", results.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 10_000)
	text := strings.NewReplacer("invoice-7", long, `"scenario":"crash-restart"`, `"scenario":"`+long+`"`).Replace(string(stored))
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := report.Of(t.Context(), []string{path}, options)
	if err != nil {
		t.Fatal(err)
	}
	var plain strings.Builder
	if err := r.WriteText(&plain, 100); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"page": page(t, path), "text": plain.String()} {
		if strings.Contains(text, long[:200]) {
			t.Errorf("the %s has a name in full", name)
		}
		wantIn(t, text, "aaa…aaa")
	}
	p := browsertest.Open(t, file(t, r), browsertest.Desktop)
	for _, s := range screens {
		resized(t, p, s)
	}
}
