//go:build browser

package timelinepage_test

import (
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// written writes a page of a timeline, and returns its file.
func written(t *testing.T, m timelinepage.Model) string {
	t.Helper()
	d := document.Document{Title: "a run"}
	d.Add("Timeline", m.Block())
	var text strings.Builder
	file := filepath.Join(t.TempDir(), "report.html")
	err := d.Write(&text)
	if err == nil {
		err = os.WriteFile(file, []byte(text.String()), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func open(t *testing.T, m timelinepage.Model, s browsertest.Screen) *browsertest.Page {
	t.Helper()
	return browsertest.Open(t, written(t, m), s)
}

// box is the place of a span or an element in the window, and the time of a span.
type box struct{ X, Y, Width, Height, From, To float64 }

func (b box) middle() (x, y float64) { return b.X + b.Width/2, b.Y + b.Height/2 }

// boxed is the place of a span.
func boxed(t *testing.T, p *browsertest.Page, what string) box {
	t.Helper()
	b := browsertest.Eval[*box](p, `lockstorm.timelines[0].box(`+what+`)`)
	if b == nil {
		t.Fatalf("there is no span %s", what)
	}
	return *b
}

// element is the place of an element.
func element(p *browsertest.Page, selector string) box {
	return browsertest.Eval[box](p, `(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector("`+selector+`").getBoundingClientRect())`)
}

func do(p *browsertest.Page, script string) {
	browsertest.Eval[any](p, "void ("+script+")")
	p.Settle()
}

func click(p *browsertest.Page, selector string) {
	do(p, "document.querySelector(`"+selector+"`).click()")
}

func show(p *browsertest.Page, from, to float64) {
	do(p, fmt.Sprintf(`lockstorm.timelines[0].show(%f, %f)`, from, to))
}

func visible(p *browsertest.Page) (from, to float64) {
	r := browsertest.Eval[[2]float64](p, `lockstorm.timelines[0].range()`)
	return r[0], r[1]
}

// wantVisible wants an interval to be in sight.
func wantVisible[T ~int64](t *testing.T, p *browsertest.Page, how string, from, to T) {
	t.Helper()
	if begin, end := visible(p); begin > float64(from) || end < float64(to) {
		t.Errorf("%s: visible is %v to %v, and not %v to %v", how, begin, end, from, to)
	}
}

func wantSelected(t *testing.T, p *browsertest.Page, how string, want ...int) {
	t.Helper()
	if got := browsertest.Eval[[]int](p, `lockstorm.timelines[0].selected()`); !slices.Equal(got, want) {
		t.Errorf("%s: selected are the grants %v, want %v", how, got, want)
	}
}

// wantTip wants the tooltip of a place to have some texts.
func wantTip(t *testing.T, p *browsertest.Page, x, y float64, parts ...string) {
	t.Helper()
	p.Point(x, y)
	tip := browsertest.Eval[string](p, `document.querySelector(".tl-tip:not([hidden])")?.innerText || ""`)
	for _, part := range parts {
		if !strings.Contains(tip, part) {
			t.Errorf("the tooltip at %v, %v is %q, without %q", x, y, tip, part)
		}
	}
}

// count counts the pixels of about a colour (0xRRGGBB) in a column of a screenshot, from y down.
func count(t *testing.T, p *browsertest.Page, x, y, height float64, colour int) (n int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shot.png")
	p.Shot(file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var picture image.Image
	if picture, err = png.Decode(f); err != nil {
		t.Fatal(err)
	}
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

const (
	focus = `document.querySelector(".tl-lanes").focus()`
	red   = 0xc0392b // of a clash
	blue  = 0x0072b2 // of a hold
)

func TestBrowserOpensAtTheFirstViolationWhereTheModelSays(t *testing.T) {
	m := violating(t)
	m.End *= 3 // with nothing at its end
	p := open(t, m, browsertest.Desktop)
	find := m.Finds[0]
	wantVisible(t, p, "at first", find.From, find.To)
	wantSelected(t, p, "at first", find.Grants...)
	from, to := visible(p)
	if to-from > float64(m.End)/2 {
		t.Errorf("%v of %v are visible: not zoomed to the violation", to-from, m.End)
	}
	do(p, focus)
	p.Press("n") // to lease exclusion, whose clash is drawn
	lease := m.Finds[1]
	wantSelected(t, p, "after n", lease.Grants...)
	from, to = visible(p)
	b := boxed(t, p, `{state: "clash", lane: 1}`)
	if b.From != float64(lease.From) || b.To != float64(lease.To) {
		t.Fatalf("the clash is from %v to %v, want %v to %v", b.From, b.To, lease.From, lease.To)
	}
	canvas := element(p, ".tl-lanes")
	x := func(at float64) float64 { return canvas.X + (at-from)/(to-from)*canvas.Width }
	if math.Abs(x(b.From)-b.X) > .5 || math.Abs(x(b.To)-b.X-b.Width) > .5 {
		t.Errorf("the clash is at %v to %v, by the axis it is %v to %v", b.X, b.X+b.Width, x(b.From), x(b.To))
	}
	// Its colour begins and ends there on the screen.
	if in := count(t, p, b.X+4, b.Y, b.Height, red); in < int(b.Height/4) {
		t.Errorf("%d pixels of the colour of a clash where it begins", in)
	}
	for _, out := range []float64{b.X - 5, b.X + b.Width + 5} {
		if n := count(t, p, out, b.Y, b.Height, red); n > 0 {
			t.Errorf("%d pixels of the colour of a clash beside it, at %v", n, out)
		}
	}
}

func TestBrowserDescribesAndSelectsWhatIsAtThePointer(t *testing.T) {
	m := violating(t)
	p := open(t, m, browsertest.Desktop)
	show(p, 0, float64(m.End))
	for i, g := range m.Grants {
		b := boxed(t, p, fmt.Sprintf(`{grant: %d, state: "holding"}`, i))
		wantTip(t, p, b.X+3, b.Y+b.Height/2, g.Token, fmt.Sprintf("client %d on %s", g.Client, g.Resource))
	}
	x, y := boxed(t, p, `{lane: -1, nth: 0}`).middle()
	wantTip(t, p, x, y, m.Shades[0].Name)
	x, y = boxed(t, p, `{lane: 1, state: "clash"}`).middle() // which the finding explains
	wantTip(t, p, x, y, "V1 lease exclusion", "client 1", "client 2")
	p.Point(5, 5)
	if browsertest.Eval[bool](p, `!document.querySelector(".tl-tip").hidden`) {
		t.Error("the tooltip is still there after the pointer has left")
	}
	last := len(m.Grants) - 1
	p.Click(boxed(t, p, fmt.Sprintf(`{grant: %d, state: "holding"}`, last)).middle())
	wantSelected(t, p, "pressed", last)
	if text := browsertest.Eval[string](p, `document.querySelector(".tl-details").innerText`); !strings.Contains(text, m.Grants[last].Token) {
		t.Errorf("the details are %q", text)
	}
}

func TestBrowserFindings(t *testing.T) {
	m := violating(t)
	file := written(t, m)
	p := browsertest.Open(t, file, browsertest.Desktop)
	click(p, ".tl-whole")
	wantVisible(t, p, "the whole run", 0, m.End)
	click(p, "article:has(#find-V3) .tl-show")
	wantVisible(t, p, "V3", m.Finds[2].From, m.Finds[2].To)
	last := m.Finds[1].Grants[1]
	button := fmt.Sprintf("article:has(#find-V1) [data-grant='%d']", last)
	click(p, button)
	wantSelected(t, p, "a button of a finding", last)
	if pressed := browsertest.Eval[string](p, `document.querySelector("`+button+`").ariaPressed`); pressed != "true" {
		t.Errorf("its button is pressed: %s", pressed)
	}
	click(p, ".tl-next")
	if got := browsertest.Eval[int](p, `lockstorm.timelines[0].find()`); got != 0 {
		t.Errorf("the finding after the second of two places is %d, want the first", got)
	}
	p = browsertest.Open(t, file+"#find-V3", browsertest.Desktop)
	if got := browsertest.Eval[int](p, `lockstorm.timelines[0].find()`); got != 2 {
		t.Errorf("the link to V3 opened finding %d", got)
	}
	do(p, `location.hash = "#find-V1"`)
	p.Until(`lockstorm.timelines[0].find() === 1`)
}

func TestBrowserKeys(t *testing.T) {
	m := violating(t)
	p := open(t, m, browsertest.Desktop)
	do(p, focus)
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
		{"n", func(from, to, _, _ float64) bool {
			return from <= float64(m.Finds[1].From) && to >= float64(m.Finds[1].To)
		}},
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
	m := turns(11, 5, 900)
	p := open(t, m, browsertest.Desktop)
	wantVisible(t, p, "without findings", 0, m.End)
	do(p, focus)
	for _, step := range []struct{ keys, want string }{
		{browsertest.Down, "client 1"}, {"..", "holding"}, {",", "waiting"},
	} {
		p.Press(step.keys)
		if got := browsertest.Eval[string](p, `document.querySelector(".tl-live").textContent`); !strings.Contains(got, step.want) {
			t.Errorf("after %q is announced %q, want %q", step.keys, got, step.want)
		}
	}
	p.Press(" ")
	wantSelected(t, p, "the space bar", 0)
	p.Press(browsertest.Escape)
	wantSelected(t, p, "after Escape")
	p.Press(browsertest.Up)
	if got := browsertest.Eval[string](p, `document.querySelector(".tl-live").textContent`); !strings.Contains(got, "client 5") {
		t.Errorf("up from nowhere is announced as %q, want the last lane", got)
	}
}

func TestBrowserPointerMovesAndZooms(t *testing.T) {
	m := turns(11, 5, 900)
	p := open(t, m, browsertest.Desktop)
	b := boxed(t, p, `{grant: 5, state: "holding"}`)
	x, y := b.middle()
	p.Wheel(x, y, -300, true)
	from, to := visible(p)
	if to-from > .95*float64(m.End) {
		t.Fatalf("Ctrl and the wheel left %v to %v in sight", from, to)
	}
	if now := boxed(t, p, `{grant: 5, state: "holding"}`); now.X > x || now.X+now.Width < x || now.From != b.From {
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
	axis := element(p, ".tl-axis")
	p.Drag(axis.X+100, axis.Y+5, axis.X+200, axis.Y+5)
	from, to = visible(p)
	if want := wasFrom + (wasTo-wasFrom)*100/axis.Width; math.Abs(from-want) > 1e6 || math.Abs((to-from)-(wasTo-wasFrom)*100/axis.Width) > 1e6 {
		t.Errorf("a range of the axis shows %v to %v, want it to begin at %v", from, to, want)
	}
	show(p, 0, 1e9)
	strip, end := element(p, ".tl-strip"), float64(m.End)
	p.Click(strip.X+strip.Width/2, strip.Y+20)
	if from, to := visible(p); math.Abs((from+to)/2-end/2) > 2e7 || math.Abs(to-from-1e9) > 1 {
		t.Errorf("pressed in the middle of the strip, it shows %v to %v of %v", from, to, end)
	}
	p.Drag(strip.X+strip.Width/2, strip.Y+20, strip.X+strip.Width*.7, strip.Y+20)
	if from, to := visible(p); math.Abs((from+to)/2-.7*end) > 2e7 {
		t.Errorf("dragged to 0.7 of %v, it shows %v to %v", end, from, to)
	}
}

// A span that began long before the visible time, and before many others, is drawn.
func TestBrowserDrawsSpansThatBeganLongAgo(t *testing.T) {
	m := turns(1000, 1, 20)
	m.Grants = append(m.Grants, timelinepage.Grant{Client: 1, Resource: "orders", Token: "of the long one", To: m.End})
	long := len(m.Grants) - 1
	m.Lanes[0].Spans = append(m.Lanes[0].Spans, timelinepage.Span{From: 1, To: m.End, State: timelinepage.Holding, Grant: long})
	p := open(t, m, browsertest.Desktop)
	near := float64(m.Grants[600].To)
	show(p, near+1, near+2000)
	b := boxed(t, p, fmt.Sprintf(`{grant: %d}`, long))
	if n := count(t, p, b.X+100, b.Y, b.Height, blue); n == 0 {
		t.Error("it is not drawn")
	}
	x, y := b.middle()
	wantTip(t, p, x, y, "of the long one")
}

// A picture has no more items than there are pixels, however long the run.
func TestBrowserLimitsDrawnItems(t *testing.T) {
	m := turns(100_000, 40, 20)
	p := open(t, m, browsertest.Desktop)
	if whole := browsertest.Eval[int](p, `lockstorm.timelines[0].operations()`); whole > 20_000 {
		t.Errorf("the whole run is drawn of %d items", whole)
	}
	middle := float64(m.End / 2)
	show(p, middle, middle+2e9)
	if near := browsertest.Eval[int](p, `lockstorm.timelines[0].operations()`); near > 3_000 {
		t.Errorf("2 s are drawn of %d items", near)
	}
}

// Where spans are narrower than pixels, the lane shows how much of the time they fill.
func TestBrowserShowsTheDensityOfNarrowSpans(t *testing.T) {
	lane := func(name string, held float64) timelinepage.Lane {
		l := timelinepage.Lane{Group: timelinepage.Clients, Name: name}
		for at := 0.0; at < 100_000; at += 20 {
			l.Spans = append(l.Spans, timelinepage.Span{From: ms(at), To: ms(at + held), State: timelinepage.Holding, Grant: -1})
		}
		return l
	}
	p := open(t, timelinepage.Model{End: ms(100_000), Lanes: []timelinepage.Lane{lane("seldom", 2), lane("always", 20)}}, browsertest.Desktop)
	for i, want := range []bool{false, true} {
		b := boxed(t, p, fmt.Sprintf(`{lane: %d, nth: 2000}`, i))
		if solid := count(t, p, b.X, b.Y, b.Height, blue) > 0; solid != want {
			t.Errorf("lane %d is drawn in the full colour of a hold: %v, want %v", i, solid, want)
		}
	}
}

func TestBrowserEscapesTexts(t *testing.T) {
	p := open(t, hostile(t), browsertest.Desktop)
	p.Point(boxed(t, p, `{grant: 1, state: "holding"}`).middle())
	do(p, focus)
	p.Press("...")
	do(p, `document.querySelector(".tl-text").open = true`)
	p.Until(`document.querySelectorAll(".tl-text tbody tr").length > 0`)
	for _, kind := range []string{"events", "faults"} {
		do(p, `[...document.querySelectorAll(".tl-text button")].find((b) => b.textContent === "`+kind+`").click()`)
		if text := browsertest.Eval[string](p, `document.querySelector(".tl-text tbody").innerText`); !strings.Contains(text, "<img src=x") {
			t.Errorf("the text is not shown among the %s: %.200q", kind, text)
		}
	}
	if browsertest.Eval[bool](p, `"ran" in window || document.images.length > 0`) {
		t.Error("a text of the history is not escaped")
	}
}

func TestBrowserTables(t *testing.T) {
	m := turns(1500, 10, 20)
	p := open(t, m, browsertest.Desktop)
	do(p, `document.querySelector(".tl-text").open = true`)
	p.Until(`document.querySelectorAll(".tl-text tbody tr").length === 500`)
	press := func(name string) {
		do(p, `[...document.querySelectorAll(".tl-text button")].find((b) => b.textContent === "`+name+`").click()`)
	}
	wantFirst := func(how string, grant int) {
		t.Helper()
		if got := browsertest.Eval[string](p, `document.querySelector(".tl-text tbody tr").innerText`); !strings.Contains(got, token(grant)) {
			t.Errorf("%s: the first row is %q, want grant %d", how, got, grant)
		}
	}
	press("next rows")
	wantFirst("the second page", 500)
	press("granted at")
	press("granted at")
	last := m.Grants[len(m.Grants)-1]
	wantFirst("sorted down", len(m.Grants)-1)
	click(p, ".tl-text tbody button")
	wantVisible(t, p, "its button", last.Granted, last.To)
}

func TestBrowserControlsHaveNames(t *testing.T) {
	for _, m := range []timelinepage.Model{violating(t), {}, {End: 5, Finds: []timelinepage.Finding{{Property: "V1 lease exclusion", Verdict: 1}}}} {
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

// A step leads to its place on the timeline, also one that is no grant.
func TestBrowserStepsLeadToTheirPlaces(t *testing.T) {
	m := violating(t)
	file := written(t, m)
	check := func(how string, p *browsertest.Page, s timelinepage.Step) {
		t.Helper()
		p.Until(`lockstorm.timelines[0].here()`)
		got := browsertest.Eval[struct {
			From, To float64
			Lane     *string
		}](p, `lockstorm.timelines[0].here()`)
		want := "faults"
		if s.Lane >= 0 {
			want = m.Lanes[s.Lane].Name
		}
		if got.From != float64(s.From) || got.To != float64(s.To) || got.Lane == nil || s.Kind != timelinepage.FaultStep && *got.Lane != want {
			t.Errorf("%s of %q: at %+v", how, s.Text, got)
		}
		p.Settle()
		wantVisible(t, p, s.Text, s.From, s.To)
	}
	p := browsertest.Open(t, file, browsertest.Desktop)
	for n, s := range m.Finds[1].Story {
		show(p, 8e8, 9e8)
		click(p, fmt.Sprintf("#find-V1-%d a[href='#find-V1-%[1]d']", n+1))
		check("a click", p, s)
	}
	check("the address", browsertest.Open(t, file+"#find-V1-3", browsertest.Desktop), m.Finds[1].Story[2])
}

// turns is a run in which clients hold the lock in turn: the hold number n is granted n periods
// after the start, and lasts most of a period.
func turns(grants, clients int, period float64) timelinepage.Model {
	m := timelinepage.Model{End: ms(float64(grants) * period), Clients: clients}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range clients {
		m.Lanes = append(m.Lanes, timelinepage.Lane{Group: timelinepage.Clients, Name: fmt.Sprintf("client %d", i+1)})
	}
	for n := range grants {
		begin := float64(n) * period
		granted, end := begin+period/4, begin+period*(.3+.65*r.Float64()*r.Float64())
		m.Grants = append(m.Grants, timelinepage.Grant{Client: n%clients + 1, Resource: "orders", Token: token(n), Call: ms(begin), Granted: ms(granted), To: ms(end), How: "released"})
		lane := &m.Lanes[n%clients]
		lane.Spans = append(lane.Spans, timelinepage.Span{From: ms(begin), To: ms(granted), State: timelinepage.Waiting, Grant: n}, timelinepage.Span{From: ms(granted), To: ms(end), State: timelinepage.Holding, Grant: n})
		if n%50 == 49 {
			m.Shades = append(m.Shades, timelinepage.Shade{Number: n / 50, Name: "pause of " + lane.Name, From: ms(begin), To: ms(end), Lanes: []int{n % clients}})
		}
	}
	return m
}
