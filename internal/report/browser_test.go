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
	"github.com/lockstorm/lockstorm/internal/inevitable"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/runpage"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/results"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// file writes a page.
func file(t *testing.T, r *report.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	if err := r.Write(out); err != nil {
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

// fits checks a page on any screen: the dark theme has a dark background, and on a phone
// nothing but scrolling boxes is wider than the window. Errors of the page fail the test when
// it ends.
func fits(t *testing.T, p *browsertest.Page) {
	t.Helper()
	const ground = `getComputedStyle(document.body).backgroundColor`
	light := browsertest.Eval[string](p, ground)
	p.Resize(browsertest.Dark)
	if dark := browsertest.Eval[string](p, ground); dark == light {
		t.Errorf("the background is %s in light and dark", dark)
	}
	p.Resize(browsertest.Phone)
	p.Until(`innerWidth <= 390`)
	if wide := browsertest.Eval[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide on a phone of 390; what sticks out: %v", wide, browsertest.Eval[[]string](p,
			`[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll") && e.getBoundingClientRect().right > 391).slice(0, 5).map((e) => e.outerHTML.slice(0, 120))`))
	}
	p.Resize(browsertest.Desktop)
}

func click(p *browsertest.Page, selector string) {
	browsertest.Eval[any](p, `document.querySelector(`+"`"+selector+"`"+`).click()`)
	p.Settle()
}

func visible(p *browsertest.Page) (from, to float64) {
	r := browsertest.Eval[[2]float64](p, `lockstorm.timelines[0].range()`)
	return r[0], r[1]
}

// place is the place of an element in the window, and its time.
type place struct{ X, Y, Width, Height, From, To float64 }

func placed(t *testing.T, p *browsertest.Page, span string) place {
	t.Helper()
	b := browsertest.Eval[*place](p, `lockstorm.timelines[0].box(`+span+`)`)
	if b == nil {
		t.Fatalf("there is no span %s", span)
	}
	return *b
}

func TestBrowserARunThatHolds(t *testing.T) {
	p := browsertest.Open(t, pageFile(t, filepath.Join(storedRuns(t, "calm", 1), "calm-sim-1")), browsertest.Desktop)
	if from, to := visible(p); from != 0 || to <= 0 {
		t.Errorf("visible is %v to %v, and not the whole run", from, to)
	}
	if browsertest.Eval[bool](p, `lockstorm.timelines[0].box({ state: "clash" }) !== null || document.querySelector("[data-find]") !== null`) {
		t.Error("something is found in a run that holds")
	}
	fits(t, p)
}

// The page draws what the checker found.
func TestBrowserARunThatViolates(t *testing.T) {
	dir := filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1")
	run, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	pair := run.Report.Finding(checker.Lease).First
	if pair == nil {
		t.Fatal("the run violates nothing")
	}
	p := browsertest.Open(t, pageFile(t, dir), browsertest.Desktop)
	atFind := func(how string) {
		t.Helper()
		if from, to := visible(p); from > float64(pair.From) || to < float64(pair.To) || to-from > 1e9 {
			t.Errorf("%s: in sight is %v to %v, the violation from %v to %v", how, from, to, pair.From, pair.To)
		}
	}
	atFind("at first")
	if !browsertest.Eval[bool](p, `document.querySelector("#find-V1").closest("article") === document.querySelector("#find-V2").closest("article")`) {
		t.Error("two cards describe one overlap")
	}
	for how, jump := range map[string]func(){
		"by n":                  func() { p.Press("n") },
		"by the button":         func() { click(p, ".tl-next") },
		"by show":               func() { click(p, "article:has(#find-V2) .tl-show") },
		"by a link to the same": func() { click(p, "a[href='#find-V2']") },
	} {
		browsertest.Eval[any](p, `lockstorm.timelines[0].select([]) || lockstorm.timelines[0].show(0, 1e6) || document.querySelector(".tl-lanes").focus()`)
		jump()
		atFind(how)
	}
	browsertest.Eval[any](p, `scrollTo(0, 0)`)

	for i, g := range []checker.Grant{pair.First, pair.Second} {
		click(p, fmt.Sprintf(".tl-find .tl-grant:nth-of-type(%d)", i+2)) // the first button is "show"
		selected := browsertest.Eval[[]int](p, `lockstorm.timelines[0].selected()`)
		if len(selected) != 1 {
			t.Fatalf("its button selects %v", selected)
		}
		held := placed(t, p, fmt.Sprintf(`{ grant: %d, state: "holding" }`, selected[0]))
		p.Point(held.X+3, held.Y+held.Height/2)
		tip := browsertest.Eval[string](p, `document.querySelector(".tl-tip:not([hidden])")?.innerText || ""`)
		if !strings.Contains(tip, g.Token) {
			t.Errorf("on the grant of client %d the tooltip is %q, without the token %s", g.Client, tip, g.Token)
		}
	}
	fits(t, p)
}

// decidedFile makes the page of a run with its point of no return, and returns its file.
func decidedFile(t *testing.T, futures int) (string, inevitable.Analysis) {
	t.Helper()
	s, err := runpage.Load(filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1"))
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
		browsertest.Eval[any](p, fmt.Sprintf(`lockstorm.timelines[0].show(%f, %f)`, see[0], see[1]))
		p.Settle()
		from, to := visible(p)
		dot := browsertest.Eval[struct {
			At, Left, Right float64
			Hidden          bool
		}](p, fmt.Sprintf(`((svg, dot) => ({ at: Number(dot.getAttribute("cx")), left: Number(svg.dataset.left), right: Number(svg.dataset.right), hidden: dot.style.display === "none" }))(
			document.querySelector("svg[data-curve]"), document.querySelector('svg[data-curve] [data-t="%.0f"]'))`, jump))
		if want := dot.Left + (jump-from)/(to-from)*(dot.Right-dot.Left); math.Abs(dot.At-want) > .1 || dot.Hidden != (jump < from || jump > to) {
			t.Errorf("%s (%v to %v): the largest jump is at %v (hidden: %v), want %v", how, from, to, dot.At, dot.Hidden, want)
		}
	}
	fits(t, p)
}

// A page of everything: debates, sweeps, a case, advice. Folded content is drawn when it is
// opened.
func TestBrowserAPageOfAll(t *testing.T) {
	r, err := report.Of(t.Context(), []string{reference, onServers(t), "../../testdata/cases/redlock-lease-crash-restart.yaml"}, options)
	if err != nil {
		t.Fatal(err)
	}
	q, err := tune.Load("../../docs/service.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := tune.Advise(t.Context(), q, tune.Options{Backend: simulated.Backend(), Runs: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Advice(a); err != nil {
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
	before := rows()
	sort := func() { browsertest.Eval[any](p, names+`.tHead.rows[0].cells[0].querySelector("button").click()`) }
	sort()
	up := rows()
	sort()
	down := rows()
	sort()
	if slices.Equal(before, up) || slices.Equal(up, down) || !slices.Equal(rows(), before) {
		t.Errorf("sorted up the rows begin %.5q, down %.5q, and before %.5q", up, down, before)
	}
	browsertest.Eval[any](p, `((box) => { box.value = "crash-restart"; box.dispatchEvent(new Event("input")); })(document.querySelector(".filter input"))`)
	if left := rows(); len(left) == 0 || len(left) >= len(before) {
		t.Errorf("the filter leaves %d rows of %d", len(left), len(before))
	}

	// A link to a witness opens the folds around it.
	browsertest.Eval[any](p, `document.querySelector("a[href^='#witness']").click()`)
	p.Until(`document.querySelector("[id^=witness]").open`)
	p.Until(`document.querySelector("[id^=witness] .tl-lanes").clientWidth > 500`)
	p.Settle()
	drawn := `((c) => c.width > 500 && new Set(c.getContext("2d").getImageData(0, 0, c.width, c.height).data).size)(document.querySelector("[id^=witness] .tl-lanes"))`
	if colours := browsertest.Eval[any](p, drawn); colours == false || colours.(float64) < 10 {
		t.Errorf("the timeline of the witness is not drawn: %v", colours)
	}

	// The points of a sweep can be sorted.
	browsertest.Eval[any](p, `document.querySelectorAll("details").forEach((d) => { if (d.querySelector("summary").textContent.startsWith("every point")) d.open = true })`)
	p.Settle()
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
	fits(t, p)
}
