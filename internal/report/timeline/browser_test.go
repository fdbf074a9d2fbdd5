package timeline_test

import (
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// written writes a page of a timeline, and returns its file.
func written(t *testing.T, m timeline.Model) string {
	t.Helper()
	d := document.Document{Title: "a run"}
	d.Add("Timeline", m.Block())
	file := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := d.Write(out); err != nil {
		t.Fatal(err)
	}
	return file
}

func open(t *testing.T, m timeline.Model, s browsertest.Screen) *browsertest.Page {
	t.Helper()
	return browsertest.Open(t, written(t, m), s)
}

// box is the place of a span in the window, and its time.
type box struct{ X, Y, Width, Height, From, To float64 }

func (b box) middle() (x, y float64) { return b.X + b.Width/2, b.Y + b.Height/2 }

func boxed(t *testing.T, p *browsertest.Page, what string) box {
	t.Helper()
	b := browsertest.Eval[*box](p, `lockstorm.timelines[0].box(`+what+`)`)
	if b == nil {
		t.Fatalf("there is no span %s", what)
	}
	return *b
}

func visible(p *browsertest.Page) (from, to float64) {
	r := browsertest.Eval[[2]float64](p, `lockstorm.timelines[0].range()`)
	return r[0], r[1]
}

const focus = `document.querySelector(".tl-lanes").focus()`

func TestBrowserOpensAtTheFirstViolationWhereTheModelSays(t *testing.T) {
	m := violating()
	p := open(t, m, browsertest.Desktop)
	from, to := visible(p)
	for _, g := range m.Finds[0].Grants {
		if grant := m.Grants[g]; from > float64(grant.Granted) || to < float64(grant.To) {
			t.Errorf("visible is %v to %v, and not the grant %v to %v", from, to, grant.Granted, grant.To)
		}
	}
	if to-from > float64(m.End)/2 {
		t.Errorf("%v of %v are visible: not zoomed to the violation", to-from, m.End)
	}
	if got := browsertest.Eval[[]int](p, `lockstorm.timelines[0].selected()`); !slices.Equal(got, m.Finds[0].Grants) {
		t.Errorf("selected the grants %v, want those that the finding names, %v", got, m.Finds[0].Grants)
	}
	b := boxed(t, p, `{state: "clash", lane: 2}`)
	if b.From != float64(m.Finds[0].From) || b.To != float64(m.Finds[0].To) {
		t.Fatalf("the clash is from %v to %v, want %v to %v", b.From, b.To, m.Finds[0].From, m.Finds[0].To)
	}
	canvas := browsertest.Eval[box](p, `(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector(".tl-lanes").getBoundingClientRect())`)
	x := func(at float64) float64 { return canvas.X + (at-from)/(to-from)*canvas.Width }
	if math.Abs(x(b.From)-b.X) > .5 || math.Abs(x(b.To)-b.X-b.Width) > .5 {
		t.Errorf("the clash is at %v to %v, by the axis it is %v to %v", b.X, b.X+b.Width, x(b.From), x(b.To))
	}
	// Its colour begins and ends there on the screen.
	red := func(x float64) int { return count(shot(t, p), x, b.Y, b.Height, 0xc0392b) }
	if in := red(b.X + 4); in < int(b.Height/4) {
		t.Errorf("%d pixels of the colour of a clash where it begins", in)
	}
	for _, out := range []float64{b.X - 5, b.X + b.Width + 5} {
		if n := red(out); n > 0 {
			t.Errorf("%d pixels of the colour of a clash beside it, at %v", n, out)
		}
	}
}

// shot is a screenshot of the window.
func shot(t *testing.T, p *browsertest.Page) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shot.png")
	p.Shot(file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// count counts the pixels of a column, from y down, of about a colour (0xRRGGBB).
func count(picture image.Image, x, y, height float64, colour int) (n int) {
	for dy := range int(height) {
		r, g, b, _ := picture.At(int(x), int(y)+dy).RGBA()
		far := 0
		for i, c := range []uint32{r, g, b} {
			far = max(far, int(math.Abs(float64(c>>8)-float64(colour>>(16-8*i)&0xff))))
		}
		if far < 24 {
			n++
		}
	}
	return n
}

func TestBrowserShowsAndSelectsTheItemAtThePointer(t *testing.T) {
	m := violating()
	p := open(t, m, browsertest.Desktop)
	browsertest.Eval[bool](p, `lockstorm.timelines[0].show(0, 1e10) || true`)
	for _, g := range []int{0, 1, 3} {
		p.Point(boxed(t, p, fmt.Sprintf(`{grant: %d, state: "holding"}`, g)).middle())
		tip := browsertest.Eval[string](p, `document.querySelector(".tl-tip:not([hidden])")?.innerText || ""`)
		if !strings.Contains(tip, m.Grants[g].Token) || !strings.Contains(tip, fmt.Sprintf("client %d on orders", m.Grants[g].Client)) {
			t.Errorf("on grant %d the tooltip is %q", g, tip)
		}
	}
	p.Point(5, 5)
	if browsertest.Eval[bool](p, `!document.querySelector(".tl-tip").hidden`) {
		t.Error("the tooltip is still there after the pointer has left")
	}
	p.Click(boxed(t, p, `{grant: 1, state: "holding"}`).middle())
	if got := browsertest.Eval[[]int](p, `lockstorm.timelines[0].selected()`); !slices.Equal(got, []int{1}) {
		t.Errorf("selected %v, want the grant that was pressed, 1", got)
	}
	if text := browsertest.Eval[string](p, `document.querySelector(".tl-details").innerText`); !strings.Contains(text, token(1)) {
		t.Errorf("the details are %q", text)
	}
}

func TestBrowserButtonsOfFindings(t *testing.T) {
	m := violating()
	p := open(t, m, browsertest.Desktop)
	click := func(selector string) {
		browsertest.Eval[bool](p, `document.querySelector(`+"`"+selector+"`"+`).click() || true`)
		p.Settle()
	}
	click(".tl-whole")
	if from, to := visible(p); from != 0 || to != float64(m.End) {
		t.Errorf("the whole run is %v to %v", from, to)
	}
	click("article:has(#find-V3) .tl-show")
	if from, to := visible(p); from > float64(m.Finds[1].From) || to < float64(m.Finds[1].To) || to-from > 1e9 {
		t.Errorf("V3 at %v is shown by %v to %v", m.Finds[1].From, from, to)
	}
	click("article:has(#find-V1) [data-grant='5']")
	if got := browsertest.Eval[[]int](p, `lockstorm.timelines[0].selected()`); !slices.Equal(got, []int{5}) {
		t.Errorf("selected %v, want 5", got)
	}
	if pressed := browsertest.Eval[string](p, `document.querySelector("article:has(#find-V1) [data-grant='5']").ariaPressed`); pressed != "true" {
		t.Errorf("its button is pressed: %s", pressed)
	}
	click(".tl-next")
	if got := browsertest.Eval[int](p, `lockstorm.timelines[0].find()`); got != 0 {
		t.Errorf("the finding after the second of two places is %d, want the first", got)
	}
}

func TestBrowserFollowsALinkToAFinding(t *testing.T) {
	m := violating()
	p := browsertest.Open(t, written(t, m)+"#find-V3", browsertest.Desktop)
	if got := browsertest.Eval[int](p, `lockstorm.timelines[0].find()`); got != 1 {
		t.Errorf("the link to V3 opened finding %d", got)
	}
	browsertest.Eval[bool](p, `(location.hash = "#find-V1") !== ""`)
	p.Until(`lockstorm.timelines[0].find() === 0`)
}

func TestBrowserKeys(t *testing.T) {
	m := violating()
	p := open(t, m, browsertest.Desktop)
	browsertest.Eval[any](p, focus)
	p.Press("0")
	for _, step := range []struct {
		key string
		is  func(from, to, wasFrom, wasTo float64) bool
	}{
		{"+", func(from, to, wasFrom, wasTo float64) bool { return to-from < wasTo-wasFrom }},
		{"w", func(from, to, wasFrom, wasTo float64) bool { return to-from < wasTo-wasFrom }},
		{"d", func(from, to, wasFrom, _ float64) bool { return from > wasFrom }},
		{"a", func(from, _, wasFrom, _ float64) bool { return from < wasFrom }},
		{"s", func(from, to, wasFrom, wasTo float64) bool { return to-from > wasTo-wasFrom }},
		{browsertest.End, func(from, to, _, _ float64) bool { return from > 0 && to == float64(m.End) }},
		{browsertest.Left, func(_, to, _, wasTo float64) bool { return to < wasTo }},
		{browsertest.Right, func(_, to, _, wasTo float64) bool { return to > wasTo }},
		{browsertest.Home, func(from, to, _, _ float64) bool { return from == 0 && to < float64(m.End) }},
		{"n", func(from, to, _, _ float64) bool { return from < 5.3e9 && to > 5.3e9 }},
		{"0", func(from, to, _, _ float64) bool { return from == 0 && to == float64(m.End) }},
	} {
		wasFrom, wasTo := visible(p)
		p.Press(step.key)
		if from, to := visible(p); !step.is(from, to, wasFrom, wasTo) {
			t.Errorf("%q led from %v to %v to %v to %v", step.key, wasFrom, wasTo, from, to)
		}
	}
}

func TestBrowserAnnouncesSteps(t *testing.T) {
	m := calm(10000, 5)
	p := open(t, m, browsertest.Desktop)
	if from, to := visible(p); from != 0 || to != float64(m.End) { // there are no findings
		t.Errorf("visible is %v to %v of a run of %v", from, to, m.End)
	}
	browsertest.Eval[any](p, focus)
	said := func() string { return browsertest.Eval[string](p, `document.querySelector(".tl-live").textContent`) }
	p.Press(browsertest.Down)
	if got := said(); !strings.Contains(got, "client 1") {
		t.Errorf("the first lane is announced as %q", got)
	}
	p.Press("..")
	if got := said(); !strings.Contains(got, "holding") || !strings.Contains(got, "0.12 s to 0.8 s") {
		t.Errorf("the second thing in the lane is announced as %q", got)
	}
	p.Press(",")
	if got := said(); !strings.Contains(got, "waiting") {
		t.Errorf("the one before is announced as %q", got)
	}
	p.Press(" ")
	if got := browsertest.Eval[[]int](p, `lockstorm.timelines[0].selected()`); !slices.Equal(got, []int{0}) {
		t.Errorf("the space bar selected %v", got)
	}
	p.Press(browsertest.Escape)
	if got := browsertest.Eval[[]int](p, `lockstorm.timelines[0].selected()`); len(got) > 0 {
		t.Errorf("after Escape %v are selected", got)
	}
	p.Press(browsertest.Up)
	if got := said(); !strings.Contains(got, "outages") {
		t.Errorf("up from nowhere is announced as %q, want the last lane", got)
	}
}

func TestBrowserPointerMovesAndZooms(t *testing.T) {
	p := open(t, calm(10000, 5), browsertest.Desktop)
	b := boxed(t, p, `{grant: 5, state: "holding"}`)
	x, y := b.middle()
	before := b.From
	p.Wheel(x, y, -300, true)
	from, to := visible(p)
	if to-from > 9e9 {
		t.Fatalf("Ctrl and the wheel left %v to %v in sight", from, to)
	}
	if now := boxed(t, p, `{grant: 5, state: "holding"}`); now.X > x || now.X+now.Width < x || now.From != before {
		t.Errorf("what was under the pointer at %v is now at %v to %v", x, now.X, now.X+now.Width)
	}
	p.Drag(x, y+3, x-120, y+3)
	if moved, _ := visible(p); moved <= from {
		t.Errorf("dragging to the left went from %v to %v", from, moved)
	}
	wasFrom, wasTo := visible(p)
	p.Wheel(x, y, 200, false)
	if f, to := visible(p); f != wasFrom || to != wasTo {
		t.Error("a plain wheel zooms; it should scroll the page")
	}
	axis := browsertest.Eval[box](p, `(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector(".tl-axis").getBoundingClientRect())`)
	p.Drag(axis.X+100, axis.Y+5, axis.X+200, axis.Y+5)
	from, to = visible(p)
	if want := wasFrom + (wasTo-wasFrom)*100/axis.Width; math.Abs(from-want) > 1e6 || math.Abs((to-from)-(wasTo-wasFrom)*100/axis.Width) > 1e6 {
		t.Errorf("a range of the axis shows %v to %v, want it to begin at %v", from, to, want)
	}
}

// A span that began long before the visible time, and before many others, is drawn.
func TestBrowserDrawsSpansThatBeganLongAgo(t *testing.T) {
	m := huge(2000, 1)
	m.Grants = append(m.Grants, timeline.Grant{Client: 1, Resource: "orders", Token: "of the long one", To: m.End})
	long := len(m.Grants) - 1
	m.Lanes[0].Spans = append(m.Lanes[0].Spans, timeline.Span{From: 1, To: m.End, State: timeline.Holding, Grant: long})
	p := open(t, m, browsertest.Desktop)
	near := m.Grants[600]
	browsertest.Eval[any](p, fmt.Sprintf(`lockstorm.timelines[0].show(%d, %d) || 0`, near.To+1, near.To+2000))
	p.Settle()
	b := boxed(t, p, fmt.Sprintf(`{grant: %d}`, long))
	if n := count(shot(t, p), b.X+100, b.Y, b.Height, 0x0072b2); n == 0 {
		t.Error("it is not drawn")
	}
	p.Point(b.middle())
	if tip := browsertest.Eval[string](p, `document.querySelector(".tl-tip").innerText`); !strings.Contains(tip, "of the long one") {
		t.Errorf("the tooltip is %q", tip)
	}
}

func TestBrowserStrip(t *testing.T) {
	m := calm(10000, 5)
	p := open(t, m, browsertest.Desktop)
	browsertest.Eval[any](p, `lockstorm.timelines[0].show(0, 1e9) || 0`)
	p.Settle()
	strip := browsertest.Eval[box](p, `(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector(".tl-strip").getBoundingClientRect())`)
	p.Click(strip.X+strip.Width/2, strip.Y+20)
	if from, to := visible(p); math.Abs((from+to)/2-5e9) > 2e7 || math.Abs(to-from-1e9) > 1 {
		t.Errorf("pressed in the middle of 10 s, it shows %v to %v", from, to)
	}
	p.Drag(strip.X+strip.Width/2, strip.Y+20, strip.X+strip.Width*.7, strip.Y+20)
	if from, to := visible(p); math.Abs((from+to)/2-7e9) > 2e7 {
		t.Errorf("dragged to 7 s, it shows %v to %v", from, to)
	}
	p.Drag(strip.X+strip.Width*.75, strip.Y+20, strip.X+strip.Width*.9, strip.Y+20)
	if from, to := visible(p); math.Abs(from-6.5e9) > 2e7 || math.Abs(to-9e9) > 2e7 {
		t.Errorf("its right edge dragged to 9 s, it shows %v to %v", from, to)
	}
}

func TestBrowserDescribesMarksAndFaults(t *testing.T) {
	m := violating()
	p := open(t, m, browsertest.Desktop)
	tooltip := func(x, y float64) string {
		p.Point(x, y)
		return browsertest.Eval[string](p, `document.querySelector(".tl-tip:not([hidden])")?.innerText || ""`)
	}
	pause := boxed(t, p, `{lane: -1, nth: 2}`)
	if tip := tooltip(pause.middle()); !strings.Contains(tip, "pause of client 3") {
		t.Errorf("on a fault the tooltip is %q", tip)
	}
	clash := boxed(t, p, `{lane: 3, state: "clash"}`) // which the finding explains
	if tip := tooltip(clash.middle()); !strings.Contains(tip, "V1 lease exclusion") || !strings.Contains(tip, "client 3") || !strings.Contains(tip, "client 4") {
		t.Errorf("on the clash the tooltip is %q", tip)
	}
	// The mark of V3 is two lanes below, at 5.3 s.
	from, to := visible(p)
	canvas := browsertest.Eval[box](p, `(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector(".tl-lanes").getBoundingClientRect())`)
	row := browsertest.Eval[box](p, `((e) => (({x, y, width, height}) => ({x, y, width, height}))(e.getBoundingClientRect()))([...document.querySelectorAll(".tl-name")].find((e) => e.textContent === "writes"))`)
	if tip := tooltip(canvas.X+(5.3e9-from)/(to-from)*canvas.Width, row.Y+row.Height/2); !strings.Contains(tip, "stale: a newer grant has written") {
		t.Errorf("on the mark of V3 the tooltip is %q", tip)
	}
}

// With motion the view arrives at the same place.
func TestBrowserMotion(t *testing.T) {
	m := violating()
	moving := browsertest.Desktop
	moving.Motion = true
	p := open(t, m, moving)
	want, _ := visible(p)
	browsertest.Eval[any](p, `document.querySelector(".tl-whole").click()`)
	p.Until(fmt.Sprintf(`lockstorm.timelines[0].range()[1] === %d`, m.End))
	browsertest.Eval[any](p, `document.querySelector("article:has(#find-V1) .tl-show").click()`)
	p.Until(fmt.Sprintf(`Math.abs(lockstorm.timelines[0].range()[0] - %f) < 1`, want))
}

func TestBrowserFollowsTheSizeOfTheWindow(t *testing.T) {
	p := open(t, violating(), browsertest.Desktop)
	wide := boxed(t, p, `{state: "clash", lane: 2}`)
	p.Resize(browsertest.Phone)
	p.Until(`document.querySelector(".tl-lanes").clientWidth < 390`)
	p.Settle()
	narrow := boxed(t, p, `{state: "clash", lane: 2}`)
	if narrow.Width >= wide.Width || narrow.From != wide.From {
		t.Errorf("the clash is %v pixels wide on a phone, %v on a desktop", narrow.Width, wide.Width)
	}
	if red := count(shot(t, p), (narrow.X+3)*2, narrow.Y*2, narrow.Height*2, 0xc0392b); red == 0 {
		t.Error("it is not where its box is, on a screen of two pixels for one")
	}
	if wide := browsertest.Eval[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide on a screen of 390", wide)
	}
	if wide := browsertest.Eval[int](p, `document.querySelector(".tl-lanes").clientWidth`); wide < 250 {
		t.Errorf("%d pixels are left for the lanes", wide)
	}
}

func TestBrowserDarkColours(t *testing.T) {
	p := open(t, violating(), browsertest.Desktop)
	b := boxed(t, p, `{grant: 4, state: "holding"}`)
	count1 := func(colour int) int { return count(shot(t, p), b.X+3, b.Y, b.Height, colour) }
	light, dark := 0x0072b2, 0x3d97d3
	if count1(light) == 0 || count1(dark) > 0 {
		t.Error("in the light a hold has not its light colour")
	}
	p.Resize(browsertest.Dark)
	if count1(dark) == 0 || count1(light) > 0 {
		t.Error("in the dark a hold has not its dark colour")
	}
	browsertest.Eval[any](p, `[1, 2].forEach(() => document.getElementById("theme").click()) || 0`) // light, then dark
	p.Resize(browsertest.Desktop)
	if count1(dark) == 0 {
		t.Error("dark was chosen, and the colours are those of the system")
	}
}

// A picture has no more items than there are pixels, however long the run.
func TestBrowserLimitsDrawnItems(t *testing.T) {
	const spans = 200_000
	m := huge(spans, 40)
	p := open(t, m, browsertest.Desktop)
	whole := browsertest.Eval[int](p, `lockstorm.timelines[0].operations()`)
	t.Logf("%d spans: first seen after %.0f ms, drawn of %d things", spans, browsertest.Eval[float64](p, `lockstorm.timelines[0].ready`), whole)
	if whole > 20_000 {
		t.Errorf("the whole of %d spans is drawn of %d items", spans, whole)
	}
	browsertest.Eval[any](p, fmt.Sprintf(`lockstorm.timelines[0].show(%d, %d) || 0`, m.End/2, m.End/2+2e9))
	p.Settle()
	if near := browsertest.Eval[int](p, `lockstorm.timelines[0].operations()`); near > 3_000 {
		t.Errorf("2 s of %d spans are drawn of %d items", spans, near)
	}
}

// Where spans are narrower than pixels, the lane shows how much of the time they fill.
func TestBrowserShowsTheDensityOfNarrowSpans(t *testing.T) {
	lane := func(name string, held float64) timeline.Lane {
		l := timeline.Lane{Group: timeline.Clients, Name: name}
		for at := 0.0; at < 100_000; at += 20 {
			l.Spans = append(l.Spans, timeline.Span{From: ms(at), To: ms(at + held), State: timeline.Holding, Grant: -1})
		}
		return l
	}
	p := open(t, timeline.Model{End: ms(100_000), Lanes: []timeline.Lane{lane("seldom", 2), lane("always", 20)}}, browsertest.Desktop)
	picture := shot(t, p)
	for i, want := range []bool{false, true} {
		b := boxed(t, p, fmt.Sprintf(`{lane: %d, nth: 2000}`, i))
		if solid := count(picture, b.X, b.Y, b.Height, 0x0072b2) > 0; solid != want {
			t.Errorf("lane %d is drawn in the full colour of a hold: %v, want %v", i, solid, want)
		}
	}
}

func TestBrowserScrollsHundredsOfClients(t *testing.T) {
	m := huge(6000, 300)
	p := open(t, m, browsertest.Desktop)
	b := boxed(t, p, `{grant: 299, state: "holding"}`)
	if b.Y < 0 || b.Y > 1000 {
		t.Fatalf("a span on the last lane is at %v, out of the window", b.Y)
	}
	browsertest.Eval[any](p, fmt.Sprintf(`lockstorm.timelines[0].show(%d, %d) || 0`, m.Grants[299].Call, m.Grants[299].To))
	p.Point(boxed(t, p, `{grant: 299, state: "holding"}`).middle())
	if tip := browsertest.Eval[string](p, `document.querySelector(".tl-tip").innerText`); !strings.Contains(tip, token(299)) {
		t.Errorf("on the last lane the tooltip is %q", tip)
	}
}

func TestBrowserGroupsClose(t *testing.T) {
	p := open(t, violating(), browsertest.Desktop)
	const head = `document.querySelector("[data-group='clients']")`
	high := func() int { return browsertest.Eval[int](p, `document.querySelector(".tl-space").offsetHeight`) }
	open := high()
	browsertest.Eval[any](p, head+`.click()`)
	if closed := high(); closed >= open {
		t.Errorf("%d pixels high with the clients, %d without", open, closed)
	}
	if got := browsertest.Eval[string](p, head+`.ariaExpanded`); got != "false" {
		t.Errorf("a closed group is expanded: %s", got)
	}
	browsertest.Eval[any](p, head+`.click()`)
	if again := high(); again != open {
		t.Errorf("opened again it is %d pixels high, not %d", again, open)
	}
}

func TestBrowserEscapesTexts(t *testing.T) {
	p := open(t, hostile(), browsertest.Desktop)
	p.Point(boxed(t, p, `{grant: 4, state: "holding"}`).middle())
	browsertest.Eval[any](p, focus)
	p.Press("...")
	browsertest.Eval[any](p, `(document.querySelector(".tl-text").open = true)`)
	p.Until(`document.querySelectorAll(".tl-text tbody tr").length > 0`)
	for _, kind := range []string{"events", "faults"} {
		browsertest.Eval[any](p, `[...document.querySelectorAll(".tl-text button")].find((b) => b.textContent === "`+kind+`").click()`)
		if text := browsertest.Eval[string](p, `document.querySelector(".tl-text tbody").innerText`); !strings.Contains(text, "<img src=x") {
			t.Errorf("the text is not shown among the %s: %.200q", kind, text)
		}
	}
	if browsertest.Eval[bool](p, `"ran" in window || document.images.length > 0`) {
		t.Error("a text of the history is not escaped")
	}
}

func TestBrowserTables(t *testing.T) {
	m := huge(3000, 10)
	p := open(t, m, browsertest.Desktop)
	browsertest.Eval[any](p, `(document.querySelector(".tl-text").open = true)`)
	p.Until(`document.querySelectorAll(".tl-text tbody tr").length === 500`)
	click := func(name string) {
		browsertest.Eval[any](p, `[...document.querySelectorAll(".tl-text button")].find((b) => b.textContent === "`+name+`").click()`)
	}
	first := func() string {
		return browsertest.Eval[string](p, `document.querySelector(".tl-text tbody tr").innerText`)
	}
	click("next rows")
	if got := first(); !strings.Contains(got, token(500)) {
		t.Errorf("the second page begins with %q", got)
	}
	click("granted at")
	click("granted at")
	if got := first(); !strings.Contains(got, token(len(m.Grants)-1)) {
		t.Errorf("sorted down, the first is %q", got)
	}
	browsertest.Eval[any](p, `document.querySelector(".tl-text tbody button").click()`)
	p.Settle()
	if from, to := visible(p); from > float64(m.Grants[len(m.Grants)-1].Granted) || to < float64(m.Grants[len(m.Grants)-1].To) || to-from > 1e9 {
		t.Errorf("its button shows %v to %v", from, to)
	}
}

func TestBrowserControlsHaveNames(t *testing.T) {
	for _, m := range []timeline.Model{violating(), {}, {End: 5, Finds: []timeline.Finding{{Property: "V1 lease exclusion", Verdict: 1}}}} {
		p := open(t, m, browsertest.Desktop)
		for _, nameless := range browsertest.Eval[[]string](p, `[...document.querySelectorAll("button, a, summary, [tabindex], canvas:not([aria-hidden])")]
			.filter((e) => e.id !== "main" && !e.matches("article") && !(e.getAttribute("aria-label") || e.textContent || "").trim()).map((e) => e.outerHTML)`) {
			t.Errorf("nameless: %s", nameless)
		}
		if twice := browsertest.Eval[[]string](p, `((ids) => ids.filter((id, i) => ids.indexOf(id) !== i))([...document.querySelectorAll("[id]")].map((e) => e.id))`); len(twice) > 0 {
			t.Errorf("there twice: %v", twice)
		}
	}
}

// The script draws the states of Go, in the same order.
func TestScriptKnowsAllStates(t *testing.T) {
	var names []string
	for _, a := range (timeline.Model{}).Block().Assets() {
		for _, found := range regexp.MustCompile(`(?m)^  (\w+): \{ top:`).FindAllStringSubmatch(a.Script, -1) {
			if found[1] != "fault" {
				names = append(names, found[1])
			}
		}
	}
	var want []string
	for _, s := range timeline.States() {
		want = append(want, string(s))
	}
	if !slices.Equal(names, want) {
		t.Errorf("the script draws %v, want %v", names, want)
	}
}

func TestModelEndsNoScript(t *testing.T) {
	text, err := hostile().Block().HTML()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "</script>"); n != 1 {
		t.Errorf("%d scripts end in the block, want the model alone", n)
	}
	_, model, _ := strings.Cut(string(text), `<script type="application/json">`)
	model, _, _ = strings.Cut(model, "</script>")
	var back timeline.Model
	if err := json.Unmarshal([]byte(model), &back); err != nil || len(back.Lanes) != len(hostile().Lanes) {
		t.Errorf("%d lanes come back: %v", len(back.Lanes), err)
	}
}
