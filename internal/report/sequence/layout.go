package sequence

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Sizes, in pixels of the drawing. Texts are as large as those of the page around it: on a
// phone one scrolls.
const (
	lineHigh   = 17 // of a line of text
	rowHigh    = 28 // of an instant, at least
	headHigh   = 40 // of the names of the participants
	gapHigh    = 34 // of a time in which nothing happens
	timeWide   = 84 // of the column of times, at least
	laneWide   = 120
	nearWide   = 16  // from a lifeline to what is written beside it
	lostWide   = 46  // left of a lifeline, for what is lost on the way to it
	slant      = 9   // of a message of which only one end is known
	headsEvery = 900 // where time is left out soon after
	wrapAt     = 30  // characters
	narrowAt   = 20  // of what is written beside faults
)

// longGap is how long nothing has to happen to be shown as a gap.
const longGap = 10e6 // ns

// layout is where everything is drawn.
type layout struct {
	wide, high float64
	times      float64   // the right edge of the column of times
	lanes      []float64 // the lifelines
	heads      []float64 // where the names of all participants stand
	rows       []row
	labels     []label
	arrows     []arrow
	bars       []bar
	band       *box // of the overlap
	place      *box // where else the finding points to
}

// row is what stands in the column of times: an instant, a gap or a cut.
type row struct {
	y, high float64
	text    string
	gap     bool // nothing happens
	cut     bool // something is left out
}

type box struct{ x, y, wide, high float64 }

// label is a text. Two labels never overlap.
type label struct {
	box
	lines []string
	mood  Mood
	dot   float64 // where its event is on the lifeline; 0: it is about an arrow
	lane  int
}

// arrow is a message.
type arrow struct {
	message        int
	x1, y1, x2, y2 float64
	lost           bool
	ring1, ring2   bool // nobody has told when this end was
	reply          bool
}

// bar is a span.
type bar struct {
	box
	span int
}

// column is what of an instant belongs to one lifeline.
type column struct {
	next, lost float64 // where there is room
	ys         []mark
}

// mark is where something of an order is.
type mark struct {
	order int
	y     float64
}

// planner places one instant after another.
type planner struct {
	d       Diagram
	l       layout
	y       float64
	marks   map[instantOf][]mark
	begins  map[history.Time]float64
	finals  map[history.Time]float64
	lost    map[int][2]float64 // where the lost messages end
	instant history.Time
	cols    []column
}

type instantOf struct {
	at   history.Time
	lane int
}

func (d Diagram) layout() layout {
	p := planner{
		d: d, marks: map[instantOf][]mark{}, begins: map[history.Time]float64{}, finals: map[history.Time]float64{},
		lost: map[int][2]float64{},
	}
	groups := p.group()
	p.columns(groups)
	p.head()
	p.instants(groups)
	p.l.high = p.y + 8
	p.arrows()
	p.bars()
	p.mark()
	return p.l
}

// kind is where a label stands, seen from its point.
type kind int

const (
	beside kind = iota // at the height of its dot
	above              // an arrow that leaves
	below              // an arrow that comes
	lost               // where a message ends
)

// item is one label, and what it is of.
type item struct {
	at     Point
	lane   int
	kind   kind
	text   string
	mood   Mood
	orders []int // that it tells
	of     []int // messages
}

// group makes items of events and messages, in their order: one of equal requests of a
// round, and one of equal replies to it that come at once.
func (p *planner) group() (all []item) {
	for _, e := range p.d.Events {
		all = append(all, item{e.At, e.Who, beside, e.Text, e.Mood, []int{e.At.Order}, nil})
	}
	for i, m := range p.d.Messages {
		switch {
		case m.Lost && m.Reply:
			all = append(all, item{m.Sent, m.From, lost, fault(m.Fault), Fault, nil, []int{i}})
		case m.Reply:
			all = append(all, item{m.Came, m.To, below, m.Text, Plain, []int{m.Came.Order}, []int{i}})
		default:
			all = append(all, item{m.Sent, m.From, above, m.Text, Plain, []int{m.Sent.Order}, []int{i}})
			if m.Lost {
				all = append(all, item{m.Sent, m.To, lost, fault(m.Fault), Fault, nil, []int{i}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(a.at.Order, b.at.Order) })
	all = p.join(all)
	for i := range all {
		all[i].text = p.name(all[i])
	}
	return all
}

func fault(n int) string {
	if n == 0 {
		return ""
	}
	return "F" + strconv.Itoa(n)
}

// join makes one of neighbours that say the same of messages of one round.
func (p *planner) join(list []item) (all []item) {
	last := map[int]int{} // by lane, of what is written there
	for _, i := range list {
		if i.kind == lost {
			all = append(all, i)
			continue
		}
		if j, is := last[i.lane]; is && p.same(all[j], i) {
			all[j].orders = append(all[j].orders, i.orders...)
			all[j].of = append(all[j].of, i.of...)
			continue
		}
		last[i.lane] = len(all)
		all = append(all, i)
	}
	return all
}

func (p *planner) same(a, b item) bool {
	if a.kind == beside || a.kind != b.kind || a.at.At != b.at.At || a.text != b.text {
		return false
	}
	round := p.d.Messages[a.of[0]].Round
	return round != 0 && round == p.d.Messages[b.of[0]].Round
}

// name is what is written of an item: of replies, whose they are.
func (p *planner) name(i item) string {
	if i.kind != below {
		return i.text
	}
	var numbers []string
	from := p.d.Participants[p.d.Messages[i.of[0]].From]
	if from.Role != Node {
		return i.text
	}
	for _, m := range i.of {
		numbers = append(numbers, strconv.Itoa(p.d.Participants[p.d.Messages[m].From].Number))
	}
	return textfmt.Plural(len(numbers), "node") + " " + strings.Join(numbers, ", ") + ": " + i.text
}

// columns gives every lifeline as much room as what is written beside it needs.
func (p *planner) columns(items []item) {
	need := make([]float64, len(p.d.Participants))
	for i, q := range p.d.Participants {
		need[i] = max(laneWide-nearWide-lostWide, wide(q.Name)/2+20)
	}
	for _, i := range items {
		if i.kind != lost {
			for _, line := range p.broken(i) {
				need[i.lane] = max(need[i.lane], wide(line))
			}
		}
	}
	p.l.times = timeWide
	for _, at := range p.times(items) {
		p.l.times = max(p.l.times, wide(inMs(at))+16)
	}
	x := p.l.times + lostWide
	for i := range need {
		p.l.lanes = append(p.l.lanes, x)
		x += nearWide + need[i] + lostWide
	}
	p.l.wide = x - lostWide + 12
}

// instants places everything that happens, one instant after another.
func (p *planner) instants(items []item) {
	times := p.times(items)
	cuts := p.d.Cuts
	for n, at := range times {
		for len(cuts) > 0 && p.due(cuts[0], at, items) {
			p.cut(cuts[0])
			cuts = cuts[1:]
			p.instant = at
		}
		gap := n > 0 && at-p.instant >= longGap
		if gap {
			p.row(gapHigh, "⋯ "+textfmt.Duration(at.Sub(p.instant)), true)
		}
		if below := p.y - p.l.heads[len(p.l.heads)-1]; gap && below > headsEvery || below > 1.5*headsEvery {
			p.head()
		}
		var here []item
		for len(items) > 0 && items[0].at.At == at {
			here, items = append(here, items[0]), items[1:]
		}
		p.place(at, here)
	}
	for _, c := range cuts {
		p.cut(c)
	}
}

// due reports whether a cut comes before an instant: all that is shown before it has been.
func (p *planner) due(c Cut, at history.Time, items []item) bool {
	return at > c.From || at == c.From && (len(items) == 0 || items[0].at.Order > c.After)
}

// times are all instants that are shown.
func (p *planner) times(items []item) (all []history.Time) {
	for _, i := range items {
		all = append(all, i.at.At)
	}
	for _, m := range p.d.Messages {
		all = append(all, m.Sent.At, m.Came.At)
	}
	for _, s := range p.d.Spans {
		all = append(all, s.From.At, s.To.At)
	}
	if o := p.d.Overlap; o != nil {
		all = append(all, o.From.At, o.To.At)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// row adds a row that says something in the column of times.
func (p *planner) row(high float64, text string, gap bool) {
	p.l.rows = append(p.l.rows, row{y: p.y, high: high, text: text, gap: gap})
	p.y += high
}

func (p *planner) head() {
	p.l.heads = append(p.l.heads, p.y)
	p.y += headHigh
}

func (p *planner) cut(c Cut) {
	p.l.rows = append(p.l.rows, row{y: p.y, high: gapHigh, text: c.words(), cut: true})
	p.y += gapHigh
}

// words says what is left out.
func (c Cut) words() string {
	return fmt.Sprintf("%s and %s are left out, from %s to %s ms", textfmt.Count(c.Messages, "message"), textfmt.Count(c.Events, "event"), inMs(c.From), inMs(c.To))
}

// place places what happens in an instant: beside each lifeline from top to bottom.
func (p *planner) place(at history.Time, items []item) {
	p.instant = at
	p.begins[at] = p.y
	p.cols = make([]column, len(p.d.Participants))
	for i := range p.cols {
		p.cols[i] = column{next: p.y + 2, lost: p.y + 2}
	}
	high := p.y + rowHigh
	for _, i := range items {
		if i.kind == lost {
			p.loseAt(i)
		} else {
			p.write(i)
		}
		c := p.cols[i.lane]
		high = max(high, c.next, c.lost)
	}
	for lane, c := range p.cols {
		p.marks[instantOf{at, lane}] = c.ys
	}
	p.row(high-p.y, inMs(at), false)
	p.finals[at] = p.y - 4
}

// write places a label beside its lifeline.
func (p *planner) write(i item) {
	c := &p.cols[i.lane]
	lines := p.broken(i)
	l := label{lines: lines, mood: i.mood, lane: i.lane}
	high := float64(len(lines)) * lineHigh
	y, top := c.next+lineHigh/2, c.next
	l.dot = y
	switch i.kind {
	case above:
		y, l.dot = c.next+high+3, 0
		high += 10
	case below:
		y, l.dot, top = c.next+7, 0, c.next+10
		high += 12
	}
	for _, text := range lines {
		l.wide = max(l.wide, wide(text))
	}
	l.x, l.y, l.high = p.l.lanes[i.lane]+nearWide, top, float64(len(lines))*lineHigh
	p.l.labels = append(p.l.labels, l)
	for _, o := range i.orders {
		c.ys = append(c.ys, mark{o, y})
	}
	c.next += high + 4
}

// loseAt places the end of a lost message before the lifeline of a node.
func (p *planner) loseAt(i item) {
	m := p.d.Messages[i.of[0]]
	c := &p.cols[i.lane]
	y := max(c.lost, p.of(m.Sent, m.From)+4) + 8
	x := p.l.lanes[i.lane] - 28
	p.lost[i.of[0]] = [2]float64{x, y}
	c.lost = y + 8
	if i.text != "" {
		p.l.labels = append(p.l.labels, label{
			box:   box{x - wide(i.text)/2, y + 6, wide(i.text), lineHigh},
			lines: []string{i.text}, mood: Fault, lane: i.lane,
		})
		c.lost += lineHigh
	}
}

// of returns the height of a point, as far as its instant has been placed.
func (p *planner) of(at Point, lane int) float64 {
	list := p.marks[instantOf{at.At, lane}]
	if at.At == p.instant {
		list = p.cols[lane].ys
	}
	y := p.begins[at.At] + 10
	for _, m := range list {
		if m.order <= at.Order {
			y = m.y
		}
	}
	return y
}

// arrows places the messages.
func (p *planner) arrows() {
	for i, m := range p.d.Messages {
		a := arrow{
			message: i, reply: m.Reply, lost: m.Lost,
			x1: p.l.lanes[m.From], y1: p.of(m.Sent, m.From), x2: p.l.lanes[m.To], y2: p.of(m.Came, m.To),
		}
		switch {
		case m.Lost:
			a.x2, a.y2 = p.lost[i][0], p.lost[i][1]
		case !m.SentKnown:
			a.y1, a.ring1 = a.y2-slant, true
		case !m.CameKnown:
			a.y2, a.ring2 = a.y1+slant, true
		}
		p.l.arrows = append(p.l.arrows, a)
	}
}

// widths are how wide the bars of spans are.
var widths = map[State]float64{Holding: 12, Overdue: 12, Paused: 20, Dead: 0, Down: 0, Key: 9, Acts: 9}

// bars places the spans. Those of one kind that go on at once stand side by side.
func (p *planner) bars() {
	for i, s := range p.d.Spans {
		from, to := p.of(s.From, s.Who), p.of(s.To, s.Who)
		if s.Open {
			to = p.finals[s.To.At]
		}
		b := bar{box{p.l.lanes[s.Who] - widths[s.State]/2, from, widths[s.State], max(to-from, 3)}, i}
		if s.State == Key || s.State == Acts {
			for b.x > p.l.lanes[s.Who]-lostWide+b.wide && p.taken(b.box, s.State) {
				b.x -= b.wide + 2
			}
		}
		p.l.bars = append(p.l.bars, b)
	}
}

// taken reports whether a bar of the same kind is there already.
func (p *planner) taken(b box, s State) bool {
	return slices.ContainsFunc(p.l.bars, func(o bar) bool { return p.d.Spans[o.span].State == s && o.meets(b) })
}

func (b box) meets(o box) bool {
	return b.x < o.x+o.wide && o.x < b.x+b.wide && b.y < o.y+o.high && o.y < b.y+b.high
}

// mark places what the finding points to.
func (p *planner) mark() {
	f := p.d.Finding
	if o := p.d.Overlap; o != nil {
		a, b := p.l.lanes[min(o.First, o.Second)]-16, p.l.lanes[max(o.First, o.Second)]+16
		from := p.of(o.From, o.Second)
		to := max(p.of(o.To, o.First), p.of(o.To, o.Second))
		p.l.band = &box{a, from, b - a, max(to-from, 4)}
		return
	}
	if f.Where == nil {
		return
	}
	var within []row
	for _, at := range p.times(nil) {
		if at >= f.Where.From && at <= f.Where.To {
			within = append(within, row{y: p.begins[at], high: p.finals[at] - p.begins[at]})
		}
	}
	if len(within) > 0 {
		last := within[len(within)-1]
		p.l.place = &box{p.l.times - 6, within[0].y, 4, last.y + last.high - within[0].y}
	}
}

// broken breaks a text into the lines of a label.
func (p *planner) broken(i item) []string {
	if p.d.Participants[i.lane].Role == Faults {
		return textfmt.Lines(i.text, narrowAt)
	}
	return textfmt.Lines(i.text, wrapAt)
}

// wide is how wide a text is at most, in the letters of any usual font without serifs.
func wide(text string) (w float64) {
	for _, r := range text {
		switch {
		case strings.ContainsRune("iljtfrI.,:;'|!()[] -", r):
			w += 5
		case strings.ContainsRune("mwMW@%", r):
			w += 12.5
		case r >= 'A' && r <= 'Z', r == utf8.RuneError:
			w += 10
		case r >= 0x1100:
			w += 15
		default:
			w += 8
		}
	}
	return w
}

// inMs prints an instant in milliseconds, to the microsecond, without what is 0 at its end.
func inMs(at history.Time) string {
	text := strconv.FormatFloat(float64(at/1000)/1000, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
