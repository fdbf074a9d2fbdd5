//go:build browser

package report_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/inevitable"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/results"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// file writes a page.
func file(t *testing.T, r *report.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	var text strings.Builder
	err := r.Write(&text)
	if err == nil {
		err = os.WriteFile(path, []byte(text.String()), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// pageFile makes the page of some paths, and returns its file.
func pageFile(t *testing.T, names ...string) string {
	t.Helper()
	r, err := report.Of(t.Context(), names, options)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, r)
}

// screens are a phone, a laptop and a large screen, in light and dark.
var screens = []browsertest.Screen{
	{Width: 400, Height: 800, Touch: true}, {Width: 400, Height: 800, Touch: true, Dark: true},
	{Width: 1400, Height: 1000}, {Width: 1920, Height: 1080, Dark: true},
}

// onScreens shows a page on all screens, and checks that nothing sticks out of the window.
func onScreens(t *testing.T, p *browsertest.Page, check func(s browsertest.Screen)) {
	t.Helper()
	ground := map[bool]string{}
	for _, s := range screens {
		p.Resize(s)
		ground[s.Dark] = browsertest.Eval[string](p, `getComputedStyle(document.body).backgroundColor`)
		if wide := browsertest.Eval[int64](p, `document.documentElement.scrollWidth`); wide > s.Width {
			t.Errorf("the page is %d pixels wide in a window of %d; what sticks out: %v", wide, s.Width, browsertest.Eval[[]string](p,
				`[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll") && e.getBoundingClientRect().right > innerWidth).slice(0, 5).map((e) => e.outerHTML.slice(0, 120))`))
		}
		do(p, `scrollTo(0, 0)`)
		check(s)
	}
	if ground[true] == ground[false] {
		t.Errorf("the background is %s in light and dark", ground[true])
	}
}

func do(p *browsertest.Page, script string) {
	browsertest.Eval[any](p, "void ("+script+")")
	p.Settle()
}

// wantContrast wants texts that can be read: their contrast is at least 4.5 (WCAG 2.2, AA), whatever the
// browser computes as their colours.
func wantContrast(t *testing.T, p *browsertest.Page, s browsertest.Screen) {
	t.Helper()
	if low := p.LowContrast("body", 4.5); len(low) > 0 {
		t.Errorf("%d pixels, dark: %v: %q", s.Width, s.Dark, low)
	}
}

// decidedFile makes the page of a run with its point of no return, and returns its file.
func decidedFile(t *testing.T, futures int) (string, inevitable.Analysis) {
	t.Helper()
	s, err := runpage.Load(crashRestart(t))
	if err != nil {
		t.Fatal(err)
	}
	options := inevitable.Options{Futures: futures, Runs: 100 * futures}
	a, err := inevitable.Analyse(t.Context(), simulated.Backend(), s.Run.Scenario.Scenario, s.Run.Seed, runner.Course{}, checker.Lease, options, nil)
	if err != nil || len(a.Jumps) == 0 {
		t.Fatal(err, a.Jumps)
	}
	s.Inevitable = &a
	r := report.New("a run", report.Options{})
	if err := r.Runs([]runpage.Shown{s}); err != nil {
		t.Fatal(err)
	}
	return file(t, r), a
}

// The curve of a point of no return has the axis of the timeline above it, also when that is zoomed.
func TestBrowserCurveFollowsTheTimeline(t *testing.T) {
	page, a := decidedFile(t, 30)
	p := browsertest.Open(t, page, browsertest.Desktop)
	jump := float64(a.Jumps[0].After.Time)
	for how, see := range map[string][2]float64{"whole": {0, float64(a.Points[len(a.Points)-1].Time)}, "zoomed": {jump - 1e8, jump + 3e8}, "elsewhere": {jump + 1e8, jump + 2e8}} {
		do(p, fmt.Sprintf(`lockstorm.timelines[0].show(%f, %f)`, see[0], see[1]))
		visible := browsertest.Eval[[2]float64](p, `lockstorm.timelines[0].range()`)
		dot := browsertest.Eval[struct {
			At, Left, Right float64
			Hidden          bool
		}](p, fmt.Sprintf(`((svg, dot) => ({ at: Number(dot.getAttribute("cx")), left: Number(svg.dataset.left), right: Number(svg.dataset.right), hidden: dot.style.display === "none" }))(
			document.querySelector("svg[data-curve]"), document.querySelector('svg[data-curve] [data-t="%.0f"]'))`, jump))
		want := dot.Left + (jump-visible[0])/(visible[1]-visible[0])*(dot.Right-dot.Left)
		if math.Abs(dot.At-want) > .1 || dot.Hidden != (jump < visible[0] || jump > visible[1]) {
			t.Errorf("%s (%v): the largest jump is at %v (hidden: %v), want %v", how, visible, dot.At, dot.Hidden, want)
		}
	}
}

// A page of everything: debates, a comparison, sweeps, a case, advice. Folded content is drawn when it is
// opened.
func TestBrowserAPageOfAll(t *testing.T) {
	r, err := report.Of(t.Context(), []string{reference, storedDebate(t, "process", isRow), "../../../testdata/cases/redlock-lease-crash-restart.yaml"}, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Advice(advice(t), ""); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, file(t, r), browsertest.Desktop)

	// The only case is open, with its messages.
	if wide := browsertest.Eval[float64](p, `document.querySelector("details[open] svg.sequence").getBoundingClientRect().width`); wide < 300 {
		t.Errorf("the diagram of the case is %v pixels wide", wide)
	}
	const names = `document.querySelector("table[data-filters]")`
	rows := func() []string {
		return browsertest.Eval[[]string](p, `[...`+names+`.tBodies[0].rows].filter((r) => !r.hidden && !r.classList.contains("head")).map((r) => r.cells[0].textContent)`)
	}
	sort := func() []string {
		do(p, names+`.tHead.rows[0].cells[0].querySelector("button").click()`)
		return rows()
	}
	before, up, down, again := rows(), sort(), sort(), sort()
	if slices.Equal(before, up) || slices.Equal(up, down) || !slices.Equal(again, before) {
		t.Errorf("sorted up the rows begin %.5q, down %.5q, and before %.5q", up, down, before)
	}

	// A link to a witness opens the folds around it.
	do(p, `document.querySelector("a[href^='#witness']").click()`)
	p.Until(`document.querySelector("[id^=witness]").open`)
	p.Until(`document.querySelector("[id^=witness] .tl-lanes").clientWidth > 500`)
	p.Settle()
	drawn := `((c) => c.width > 500 && new Set(c.getContext("2d").getImageData(0, 0, c.width, c.height).data).size)(document.querySelector("[id^=witness] .tl-lanes"))`
	if colours := browsertest.Eval[any](p, drawn); colours == false || colours.(float64) < 10 {
		t.Errorf("the timeline of the witness is not drawn: %v", colours)
	}

	// The points of a sweep can be sorted.
	do(p, `document.querySelectorAll("details").forEach((d) => { if (d.querySelector("summary").textContent.startsWith("every point")) d.open = true })`)
	ordered := browsertest.Eval[[]float64](p, `(() => {
		for (const table of document.querySelectorAll("details[open] table.sorts")) for (const [i, head] of [...table.tHead.rows[0].cells].entries()) {
			const values = () => [...table.tBodies[0].rows].map((r) => Number(r.cells[i].dataset.sort)), down = () => values().every((v, k, all) => k === 0 || v <= all[k - 1]);
			if (values().some(Number.isNaN) || down()) continue;
			head.querySelector("button").click();
			head.querySelector("button").click();
			return values();
		}
	})()`)
	if len(ordered) < 2 || !slices.IsSortedFunc(ordered, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Errorf("sorted down, a column of the table of a sweep is %v", ordered)
	}
	onScreens(t, p, func(s browsertest.Screen) {
		if size := browsertest.Eval[float64](p, `Math.min(...[...document.querySelectorAll("figure svg text")].filter((e) => e.getBoundingClientRect().width > 0 && !e.closest(".sequence")).map((e) => parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b)))`); size < 9 {
			t.Errorf("%d pixels: a text of a picture has %.1f pixels", s.Width, size)
		}
	})
}

// board is the scoreboard.
const board = `document.querySelector("#s-scoreboard .matrix")`

// The scoreboard is in the window as a whole, whatever its width, with the verdicts of all rows. The
// reader narrows it down by words and to violations, with the keyboard alone.
func TestBrowserScoreboard(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, storedDebate(t, "sim", nil)), browsertest.Desktop)
	const row = `[...` + board + `.tBodies[0].rows].find((r) => r.querySelector("th.name > a")?.textContent === "crash-restart")`
	onScreens(t, p, func(s browsertest.Screen) {
		wantContrast(t, p, s)
		if cut := browsertest.Eval[[]string](p, `[...`+board+`.querySelectorAll("td, th, .tile, .share, a")].filter((e) => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map((e) => e.textContent).slice(0, 5)`); len(cut) > 0 {
			t.Errorf("%d pixels: these cells are cut off: %q", s.Width, cut)
		}
		do(p, row+`.scrollIntoView({ block: "center" })`)
		tiles := browsertest.Eval[[]string](p, `[...`+row+`.querySelectorAll(".tile")].filter((e) => { const b = e.getBoundingClientRect(); return b.width > 15 && b.height > 12 && b.left >= 0 && b.right <= innerWidth && b.top >= 0 && b.bottom <= innerHeight && document.elementFromPoint((b.left + b.right) / 2, (b.top + b.bottom) / 2) === e; }).map((e) => e.textContent)`)
		if got := strings.Join(tiles, ""); got != "✗✗✗✗–✓–✓✓" {
			t.Errorf("%d pixels: of crash-restart the verdicts %q are visible", s.Width, got)
		}
		if s.Width < 1200 {
			if label := browsertest.Eval[string](p, `getComputedStyle(`+row+`.querySelector("td.verdict"), "::before").content`); label != `"B"` {
				t.Errorf("%d pixels: on a card the first verdict is of %s", s.Width, label)
			}
		} else if head := browsertest.Eval[float64](p, board+`.tHead.rows[0].cells[1].getBoundingClientRect().top`); head < -1 || head > 1 {
			t.Errorf("%d pixels: after scrolling the head is at %v, and not at the top of the window", s.Width, head)
		}
	})
	shown := func() int {
		return browsertest.Eval[int](p, `[...`+board+`.tBodies[0].rows].filter((r) => !r.hidden && !r.classList.contains("head")).length`)
	}
	all := shown()
	do(p, `document.querySelectorAll(".filter input")[1].focus()`)
	p.Press(" ")
	violating := shown()
	if wrong := browsertest.Eval[int](p, `[...`+board+`.tBodies[0].rows].filter((r) => !r.classList.contains("head") && r.hidden === !!r.querySelector(".tile.violated")).length`); wrong > 0 || violating == 0 || violating >= all {
		t.Errorf("%d of %d rows are left, %d of them wrongly shown or hidden", violating, all, wrong)
	}
	do(p, `document.querySelectorAll(".filter input")[0].focus()`)
	p.Press("restart")
	if n := shown(); n == 0 || n >= violating {
		t.Errorf("of %d rows with a violation %d have the word", violating, n)
	}
}

// The page of a run begins with what happened, why, and whether it was expected. All of it, and
// the story, leads to the timeline, whose names are shown whole.
func TestBrowserRunPage(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, crashRestart(t)), browsertest.Desktop)
	const lead = `document.querySelector("section .happened")`
	onScreens(t, p, func(s browsertest.Screen) {
		wantContrast(t, p, s)
		if end := browsertest.Eval[float64](p, lead+`.getBoundingClientRect().bottom`); end > float64(s.Height) {
			t.Errorf("%d pixels: what happened ends at %v, in a window of %d", s.Width, end, s.Height)
		}
		if cut := browsertest.Eval[[]string](p, `[...document.querySelectorAll(".tl-name > *, .tl-head")].filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1).map((e) => e.textContent)`); len(cut) > 0 {
			t.Errorf("%d pixels: these names are cut off: %q", s.Width, cut)
		}
	})
	if !browsertest.Eval[bool](p, `document.querySelector("section > h2").nextElementSibling === `+lead+` && `+lead+`.compareDocumentPosition(document.querySelector(".timeline")) === Node.DOCUMENT_POSITION_FOLLOWING && !document.querySelector(".notice.good")`) {
		t.Error("the page does not begin with what was violated")
	}
	do(p, lead+`.querySelector("a").click()`)
	p.Until(`document.querySelector("#assumption-keeps-or-stays-away").open`)
	if !strings.Contains(browsertest.Eval[string](p, `document.querySelector("#assumption-keeps-or-stays-away").innerText`), "fsync always") {
		t.Error("the link to the assumption does not lead to what helps")
	}
	if n := browsertest.Eval[int](p, `document.querySelectorAll(".timeline ~ figure .frame").length`); n != 1 {
		t.Errorf("%d diagrams of the messages of a small run", n)
	}
}

// Names of 10,000 letters fill neither a page nor its text.
func TestBrowserLongNames(t *testing.T) {
	stored, err := os.ReadFile(filepath.Join(crashRestart(t), results.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 10_000)
	text := strings.NewReplacer("invoice-7", long, `"scenario":"crash-restart"`, `"scenario":"`+long+`"`).Replace(string(stored))
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := report.Of(t.Context(), []string{path}, options)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"page": page(t, path), "text": plain(t, r)} {
		if strings.Contains(text, long[:200]) {
			t.Errorf("the %s has a name in full", name)
		}
		wantIn(t, text, "aaa…aaa")
	}
	onScreens(t, browsertest.Open(t, file(t, r), browsertest.Desktop), func(browsertest.Screen) {})
}
