package report_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
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

// board is the scoreboard.
const board = `document.querySelector("#s-scoreboard .matrix")`

// row is a row of the scoreboard.
func row(name string) string {
	return `[...` + board + `.tBodies[0].rows].find((r) => r.querySelector("th.name > a")?.textContent === "` + name + `")`
}

// The scoreboard is in the window as a whole, whatever its width, with the verdicts of all rows.
func TestBrowserScoreboard(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, onlyDebate(t)), browsertest.Desktop)
	for _, s := range append(slices.Clone(screens), browsertest.Screen{Width: 800, Height: 900}, browsertest.Screen{Width: 1100, Height: 900}) {
		resized(t, p, s)
		browsertest.Eval[any](p, `scrollTo(0, 0)`)
		if cut := browsertest.Eval[[]string](p, `[...`+board+`.querySelectorAll("td, th, .tile, .share, a")].filter((e) => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map((e) => e.textContent).slice(0, 5)`); len(cut) > 0 {
			t.Errorf("%d pixels: these cells are cut off: %q", s.Width, cut)
		}
		browsertest.Eval[any](p, row("crash-restart")+`.scrollIntoView({ block: "center" })`)
		tiles := browsertest.Eval[[]string](p, `[...`+row("crash-restart")+`.querySelectorAll(".tile")].filter((e) => { const b = e.getBoundingClientRect(); return b.width > 15 && b.height > 12 && b.left >= 0 && b.right <= innerWidth && b.top >= 0 && b.bottom <= innerHeight && document.elementFromPoint((b.left + b.right) / 2, (b.top + b.bottom) / 2) === e; }).map((e) => e.textContent)`)
		if got := strings.Join(tiles, ""); got != "✗✗✗–✓–✓✓" {
			t.Errorf("%d pixels: of crash-restart the verdicts %q are visible", s.Width, got)
		}
		if s.Width < 1200 {
			if label := browsertest.Eval[string](p, `getComputedStyle(`+row("crash-restart")+`.querySelector("td.verdict"), "::before").content`); label != `"V1"` {
				t.Errorf("%d pixels: on a card the first verdict is of %s", s.Width, label)
			}
			continue
		}
		if tall := browsertest.Eval[[]string](p, `[...`+board+`.tBodies[0].rows].filter((r) => r.offsetHeight > 75).map((r) => r.cells[0].textContent)`); len(tall) > 0 {
			t.Errorf("%d pixels: these rows are too high: %q", s.Width, tall)
		}
		if head := browsertest.Eval[float64](p, board+`.tHead.rows[0].cells[1].getBoundingClientRect().top`); head < -1 || head > 1 {
			t.Errorf("%d pixels: after scrolling the head is at %v, and not at the top of the window", s.Width, head)
		}
	}
}

// The reader narrows the scoreboard down by words and to violations, with the keyboard alone.
func TestBrowserScoreboardFilters(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, onlyDebate(t)), browsertest.Desktop)
	shown := func() int {
		return browsertest.Eval[int](p, `[...`+board+`.tBodies[0].rows].filter((r) => !r.hidden && !r.classList.contains("head")).length`)
	}
	all := shown()
	browsertest.Eval[any](p, `document.querySelectorAll(".filter input")[1].focus()`)
	p.Press(" ")
	violating := shown()
	if wrong := browsertest.Eval[int](p, `[...`+board+`.tBodies[0].rows].filter((r) => !r.classList.contains("head") && r.hidden === !!r.querySelector(".tile.violated")).length`); wrong > 0 || violating == 0 || violating >= all {
		t.Errorf("%d of %d rows are left, %d of them wrongly shown or hidden", violating, all, wrong)
	}
	browsertest.Eval[any](p, `document.querySelectorAll(".filter input")[0].focus()`)
	p.Press("restart")
	if n := shown(); n == 0 || n >= violating {
		t.Errorf("of %d rows with a violation %d have the word", violating, n)
	}
}

// The debate is printed on two pages, A4 or letter, in light colours and with all verdicts.
func TestBrowserPrintedDebate(t *testing.T) {
	path := pageFile(t, onlyDebate(t))
	for _, s := range []browsertest.Screen{browsertest.Desktop, browsertest.Dark, {Width: 400, Height: 800}} {
		p := browsertest.Open(t, path, s)
		for name, paper := range map[string]browsertest.Paper{"A4": browsertest.A4, "letter": browsertest.Letter} {
			if n := p.PrintedPages(paper); n != 2 {
				t.Errorf("on %s, from a window of %d pixels, dark: %v: %d pages", name, s.Width, s.Dark, n)
			}
			if n := p.PrintedPagesWith(".matrix thead th *", paper); n != 2 {
				t.Errorf("on %s, from a window of %d pixels, dark: %v: the head of the table is on %d pages", name, s.Width, s.Dark, n)
			}
		}
		p.PrintMedia()
		if ground := browsertest.Eval[string](p, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(255, 255, 255)" {
			t.Errorf("printed on %s", ground)
		}
		if n, all := browsertest.Eval[int](p, `[...`+board+`.querySelectorAll(".tile")].filter((e) => e.offsetWidth > 0).length`), 8*(len(scenarios.All())+len(scenarios.AllSeries())); n != all {
			t.Errorf("printed are %d of %d verdicts", n, all)
		}
	}
}

// A printed run leaves no gap before its diagram: nothing in it is so tall that a browser moves it to the
// next page and leaves the rest of this one empty.
func TestBrowserPrintedRun(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1")), browsertest.Screen{Width: 700, Height: 1000})
	onScreen := browsertest.Eval[float64](p, `(() => { const b = document.querySelector("svg.sequence[role=img]").viewBox.baseVal; return b.height / b.width; })()`)
	p.PrintMedia()
	type strip struct{ Y, Width, Height, Drawn float64 }
	strips := browsertest.Eval[[]strip](p, `[...document.querySelectorAll("figure svg")].map((e) => [e, e.getBoundingClientRect()]).filter(([, b]) => b.height > 0).map(([e, b]) => ({ Y: b.y, Width: b.width, Height: b.height, Drawn: e.querySelector("use")?.getBBox().height || 0 }))`)
	if len(strips) == 0 {
		t.Fatal("the diagram is not printed")
	}
	end := strips[0].Y
	for i, s := range strips {
		if s.Height > 250 {
			t.Errorf("part %d of the diagram is %v pixels high, of the 1000 of a page", i+1, s.Height)
		}
		if math.Abs(s.Y-end) > 1 {
			t.Errorf("part %d of the diagram begins at %v, and the one above ends at %v", i+1, s.Y, end)
		}
		if s.Drawn == 0 {
			t.Errorf("part %d of the diagram is empty", i+1)
		}
		end = s.Y + s.Height
	}
	if got := (end - strips[0].Y) / strips[0].Width; math.Abs(got-onScreen) > .02*onScreen {
		t.Errorf("the diagram is %v times as high as wide on paper, and %v times on the screen", got, onScreen)
	}
}

// On a phone the names of the lanes and of their groups are shown whole.
func TestBrowserNamesOfLanesOnAPhone(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1")), browsertest.Desktop)
	for _, s := range []browsertest.Screen{browsertest.Phone, {Width: 400, Height: 800}, {Width: 400, Height: 800, Dark: true}, {Width: 640, Height: 800}, browsertest.Desktop} {
		resized(t, p, s)
		if cut := browsertest.Eval[[]string](p, `[...document.querySelectorAll(".tl-name > *, .tl-head")].filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1).map((e) => e.textContent)`); len(cut) > 0 {
			t.Errorf("%d pixels: these names are cut off: %q", s.Width, cut)
		}
	}
}

// The paper says that closed rows are missing, and does not say so where all are open.
func TestBrowserPrintSaysWhatIsMissing(t *testing.T) {
	const note = `getComputedStyle(document.querySelector("footer"), "::before").content`
	p := browsertest.Open(t, pageFile(t, onlyDebate(t)), browsertest.Desktop)
	if text := browsertest.Eval[string](p, note); text != "none" {
		t.Errorf("on the screen it says %s", text)
	}
	p.PrintMedia()
	if text := browsertest.Eval[string](p, note); !strings.Contains(text, "not printed") {
		t.Errorf("with closed rows it says %s", text)
	}
	browsertest.Eval[any](p, `document.querySelectorAll("details").forEach((d) => { d.open = true })`)
	if text := browsertest.Eval[string](p, note); text != "none" {
		t.Errorf("with all rows open it says %s", text)
	}
}

// The texts of both pages can be read in both themes: their contrast is at least 4.5 (WCAG 2.2, AA),
// whatever the browser computes as their colours.
func TestBrowserContrast(t *testing.T) {
	debate := pageFile(t, onlyDebate(t))
	run := pageFile(t, filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1"))
	for name, path := range map[string]string{"debate": debate, "run": run} {
		for _, s := range []browsertest.Screen{browsertest.Desktop, browsertest.Dark, {Width: 400, Height: 800}, {Width: 400, Height: 800, Dark: true}} {
			p := browsertest.Open(t, path, s)
			p.Settle()
			if low := p.LowContrast("body", 4.5); len(low) > 0 {
				t.Errorf("%s, %d pixels, dark: %v: %q", name, s.Width, s.Dark, low)
			}
		}
	}
}

// What was expected stands below a verdict only where it differs.
func TestExpectedWhereItDiffers(t *testing.T) {
	text := page(t, onlyDebate(t))
	if n := strings.Count(text, "differs\""); n != 1 {
		t.Errorf("%d verdicts are marked; want the one of the legend", n)
	}
	wantIn(t, text, `<p class="notice known">as expected in`, `<p class="notice good">as expected in`)
}

// The page of a run begins with what happened, why, and whether it was expected. All of it, and
// the story, leads to the timeline; the messages of a small run follow.
func TestBrowserRunPage(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1")), browsertest.Desktop)
	const lead = `document.querySelector("section .happened")`
	for _, s := range screens {
		resized(t, p, s)
		browsertest.Eval[any](p, `scrollTo(0, 0)`)
		if end := browsertest.Eval[float64](p, lead+`.getBoundingClientRect().bottom`); end > float64(s.Height) {
			t.Errorf("%d pixels: what happened ends at %v, in a window of %d", s.Width, end, s.Height)
		}
	}
	text := browsertest.Eval[string](p, lead+`.innerText`)
	wantIn(t, text, "violated, as this scenario expects.", "Clients 1 and 2 both held", "because an assumption broke: ", "What helps: Keep every write on disk")
	if !browsertest.Eval[bool](p, `document.querySelector("section > h2").nextElementSibling === `+lead+` && `+lead+`.compareDocumentPosition(document.querySelector(".timeline")) === Node.DOCUMENT_POSITION_FOLLOWING && !document.querySelector(".notice.good")`) {
		t.Error("the page does not begin with what was violated")
	}
	browsertest.Eval[any](p, lead+`.querySelector("a").click()`)
	p.Until(`document.querySelector("#assumption-keeps-or-stays-away").open`)
	if !strings.Contains(browsertest.Eval[string](p, `document.querySelector("#assumption-keeps-or-stays-away").innerText`), "fsync always") {
		t.Error("the link to the assumption does not lead to what helps")
	}
	resized(t, p, browsertest.Desktop)
	if gap := browsertest.Eval[float64](p, `document.querySelector(".tl-keys").getBoundingClientRect().top - document.querySelector(".tl-legend").getBoundingClientRect().bottom`); gap > 100 {
		t.Errorf("%v pixels below the lanes are empty", gap)
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
	wantIn(t, page(t, filepath.Join(storedRunsOf(t, s, 1), "calm-sim-1")), "3 clients used the lock without a fault: it was granted ", ", and no two clients held it at once.", "Nothing is violated, as this scenario expects.")
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

// The texts of pictures can be read. On a phone a picture scrolls, and the page does not.
func TestBrowserPlots(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(reference, "restart-delay")), browsertest.Desktop)
	for _, s := range screens {
		resized(t, p, s)
		if size := browsertest.Eval[float64](p, `Math.min(...[...document.querySelectorAll("figure svg text")].map((e) => parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b)))`); size < 9 {
			t.Errorf("%d pixels: a text of a picture has %.1f pixels", s.Width, size)
		}
	}
	p.Resize(browsertest.Desktop)
	fits(t, p)
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
