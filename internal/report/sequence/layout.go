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

// Sizes in pixels. Texts have the size of the page's texts: on a phone the drawing scrolls.
const (
	lineHeight = 17 // of a line of text
	rowHeight  = 28 // of an instant, at least
	headHeight = 40 // of the participants' names
	gapHeight  = 34 // of a time without events
	timeWidth  = 84 // of the column of times, at least
	laneWidth  = 120
	labelGap   = 16  // from a lifeline to a label beside it
	lostWidth  = 46  // left of a lifeline, for lost messages
	slant      = 9   // of a message of which one end is unknown
	headsEvery = 900 // if time is left out soon after
	wrapAt     = 30  // characters
	narrowAt   = 20  // characters, for labels of faults
)

// longGap is the shortest time without events that is shown as a gap.
const longGap = 10e6 // ns

// layout has the place of everything that is drawn.
type layout struct {
	width, height float64
	times         float64   // right edge of the column of times
	lanes         []float64 // x of the lifelines
	heads         []float64 // y of the names of the participants
	rows          []row
	labels        []label
	arrows        []arrow
	bars          []bar
	band          *box // of the overlap
	place         *box // other place of the finding
}

// row is an entry in the column of times: an instant, a gap or an omission.
type row struct {
	y, height float64
	text      string
	gap       bool // nothing happens
	cut       bool // something is left out
}

type box struct{ x, y, width, height float64 }

// label is a text. Labels do not overlap.
type label struct {
	box
	lines    []string
	emphasis Emphasis
	dot      float64 // y of its event on the lifeline; 0: it belongs to an arrow
	lane     int
}

// arrow is a message.
type arrow struct {
	message        int
	x1, y1, x2, y2 float64
	lost           bool
	ring1, ring2   bool // the time of this end is unknown
	reply          bool
}

// bar is a span.
type bar struct {
	box
	span int
}

// column is the part of an instant that belongs to one lifeline.
type column struct {
	next, lost float64 // the next free y
	ys         []placedAt
}

// placedAt is the height of a point.
type placedAt struct {
	order int
	y     float64
}

// planner places one instant after another.
type planner struct {
	d       Diagram
	l       layout
	y       float64
	marks   map[instantOf][]placedAt
	begins  map[history.Time]float64
	finals  map[history.Time]float64
	lost    map[int][2]float64 // where lost messages end
	instant history.Time
	cols    []column
}

type instantOf struct {
	at   history.Time
	lane int
}

func (d Diagram) layout() layout {
	p := planner{
		d: d, marks: map[instantOf][]placedAt{}, begins: map[history.Time]float64{}, finals: map[history.Time]float64{},
		lost: map[int][2]float64{},
	}
	groups := p.group()
	p.columns(groups)
	p.addHead()
	p.instants(groups)
	p.l.height = p.y + 8
	p.arrows()
	p.bars()
	p.markFinding()
	return p.l
}

// kind is the place of a label, relative to its point.
type kind int

const (
	beside kind = iota // at the height of its dot
	above              // an arrow that leaves
	below              // an arrow that arrives
	lost               // the end of a lost message
)

// item is a label and what it describes.
type item struct {
	at       Point
	lane     int
	kind     kind
	text     string
	emphasis Emphasis
	orders   []int // of its points
	of       []int // messages
}

// group makes items of events and messages, in their order, and joins equal ones.
func (p *planner) group() (all []item) {
	for _, e := range p.d.Events {
		all = append(all, item{e.At, e.Who, beside, e.Text, e.Emphasis, []int{e.At.Order}, nil})
	}
	for i, m := range p.d.Messages {
		switch {
		case m.Lost && m.Reply:
			all = append(all, item{m.Sent, m.From, lost, fault(m.Fault), Fault, nil, []int{i}})
		case m.Reply:
			all = append(all, item{m.Received, m.To, below, m.Text, Plain, []int{m.Received.Order}, []int{i}})
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

// join joins neighbours with the same text about messages of one round: requests, or replies at
// one instant.
func (p *planner) join(list []item) (all []item) {
	last := map[int]int{} // index of the last item, by lane
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

// name is the text of an item. That of replies names the nodes.
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

// columns gives each lifeline the width of its labels.
func (p *planner) columns(items []item) {
	need := make([]float64, len(p.d.Participants))
	for i, q := range p.d.Participants {
		need[i] = max(laneWidth-labelGap-lostWidth, textWidth(q.Name)/2+20)
	}
	for _, i := range items {
		if i.kind != lost {
			for _, line := range p.wrapped(i) {
				need[i.lane] = max(need[i.lane], textWidth(line))
			}
		}
	}
	p.l.times = timeWidth
	for _, at := range p.times(items) {
		p.l.times = max(p.l.times, textWidth(inMs(at))+16)
	}
	x := p.l.times + lostWidth
	for i := range need {
		p.l.lanes = append(p.l.lanes, x)
		x += labelGap + need[i] + lostWidth
	}
	p.l.width = x - lostWidth + 12
}

// instants places everything, one instant after another.
func (p *planner) instants(items []item) {
	times := p.times(items)
	cuts := p.d.Omissions
	for n, at := range times {
		for len(cuts) > 0 && p.due(cuts[0], at, items) {
			p.addOmission(cuts[0])
			cuts = cuts[1:]
			p.instant = at
		}
		gap := n > 0 && at-p.instant >= longGap
		if gap {
			p.addRow(gapHeight, "⋯ "+textfmt.Duration(at.Sub(p.instant)), true)
		}
		if below := p.y - p.l.heads[len(p.l.heads)-1]; gap && below > headsEvery || below > 1.5*headsEvery {
			p.addHead()
		}
		var here []item
		for len(items) > 0 && items[0].at.At == at {
			here, items = append(here, items[0]), items[1:]
		}
		p.placeInstant(at, here)
	}
	for _, c := range cuts {
		p.addOmission(c)
	}
}

// due reports whether an omission comes before an instant.
func (p *planner) due(c Omission, at history.Time, items []item) bool {
	return at > c.From || at == c.From && (len(items) == 0 || items[0].at.Order > c.After)
}

// times returns all instants that are shown.
func (p *planner) times(items []item) (all []history.Time) {
	for _, i := range items {
		all = append(all, i.at.At)
	}
	for _, m := range p.d.Messages {
		all = append(all, m.Sent.At, m.Received.At)
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

// addRow adds a row to the column of times.
func (p *planner) addRow(high float64, text string, gap bool) {
	p.l.rows = append(p.l.rows, row{y: p.y, height: high, text: text, gap: gap})
	p.y += high
}

func (p *planner) addHead() {
	p.l.heads = append(p.l.heads, p.y)
	p.y += headHeight
}

func (p *planner) addOmission(c Omission) {
	p.l.rows = append(p.l.rows, row{y: p.y, height: gapHeight, text: c.text(), cut: true})
	p.y += gapHeight
}

// text says what is left out.
func (c Omission) text() string {
	return fmt.Sprintf("%s and %s are left out, from %s to %s ms", textfmt.Count(c.Messages, "message"), textfmt.Count(c.Events, "event"), inMs(c.From), inMs(c.To))
}

// placeInstant places what happens at an instant: beside each lifeline from top to bottom.
func (p *planner) placeInstant(at history.Time, items []item) {
	p.instant = at
	p.begins[at] = p.y
	p.cols = make([]column, len(p.d.Participants))
	for i := range p.cols {
		p.cols[i] = column{next: p.y + 2, lost: p.y + 2}
	}
	high := p.y + rowHeight
	for _, i := range items {
		if i.kind == lost {
			p.placeLost(i)
		} else {
			p.placeLabel(i)
		}
		c := p.cols[i.lane]
		high = max(high, c.next, c.lost)
	}
	for lane, c := range p.cols {
		p.marks[instantOf{at, lane}] = c.ys
	}
	p.addRow(high-p.y, inMs(at), false)
	p.finals[at] = p.y - 4
}

// placeLabel places a label beside its lifeline.
func (p *planner) placeLabel(i item) {
	c := &p.cols[i.lane]
	lines := p.wrapped(i)
	l := label{lines: lines, emphasis: i.emphasis, lane: i.lane}
	high := float64(len(lines)) * lineHeight
	y, top := c.next+lineHeight/2, c.next
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
		l.width = max(l.width, textWidth(text))
	}
	l.x, l.y, l.height = p.l.lanes[i.lane]+labelGap, top, float64(len(lines))*lineHeight
	p.l.labels = append(p.l.labels, l)
	for _, o := range i.orders {
		c.ys = append(c.ys, placedAt{o, y})
	}
	c.next += high + 4
}

// placeLost places the end of a lost message left of the receiver's lifeline.
func (p *planner) placeLost(i item) {
	m := p.d.Messages[i.of[0]]
	c := &p.cols[i.lane]
	y := max(c.lost, p.height(m.Sent, m.From)+4) + 8
	x := p.l.lanes[i.lane] - 28
	p.lost[i.of[0]] = [2]float64{x, y}
	c.lost = y + 8
	if i.text != "" {
		p.l.labels = append(p.l.labels, label{
			box:   box{x - textWidth(i.text)/2, y + 6, textWidth(i.text), lineHeight},
			lines: []string{i.text}, emphasis: Fault, lane: i.lane,
		})
		c.lost += lineHeight
	}
}

// height returns the y of a point. Its instant must have been begun.
func (p *planner) height(at Point, lane int) float64 {
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
			x1: p.l.lanes[m.From], y1: p.height(m.Sent, m.From), x2: p.l.lanes[m.To], y2: p.height(m.Received, m.To),
		}
		switch {
		case m.Lost:
			a.x2, a.y2 = p.lost[i][0], p.lost[i][1]
		case !m.SentKnown:
			a.y1, a.ring1 = a.y2-slant, true
		case !m.ReceivedKnown:
			a.y2, a.ring2 = a.y1+slant, true
		}
		p.l.arrows = append(p.l.arrows, a)
	}
}

// widths are the widths of bars.
var widths = map[State]float64{Holding: 12, Overdue: 12, Paused: 20, Dead: 0, Down: 0, Key: 9, Acts: 9}

// bars places the spans. Simultaneous keys or faults stand side by side.
func (p *planner) bars() {
	for i, s := range p.d.Spans {
		from, to := p.height(s.From, s.Who), p.height(s.To, s.Who)
		if s.Open {
			to = p.finals[s.To.At]
		}
		b := bar{box{p.l.lanes[s.Who] - widths[s.State]/2, from, widths[s.State], max(to-from, 3)}, i}
		if s.State == Key || s.State == Acts {
			for b.x > p.l.lanes[s.Who]-lostWidth+b.width && p.occupied(b.box, s.State) {
				b.x -= b.width + 2
			}
		}
		p.l.bars = append(p.l.bars, b)
	}
}

// occupied reports whether a bar of the same state overlaps the box.
func (p *planner) occupied(b box, s State) bool {
	return slices.ContainsFunc(p.l.bars, func(o bar) bool { return p.d.Spans[o.span].State == s && o.meets(b) })
}

func (b box) meets(o box) bool {
	return b.x < o.x+o.width && o.x < b.x+b.width && b.y < o.y+o.height && o.y < b.y+b.height
}

// markFinding places the marks of the finding.
func (p *planner) markFinding() {
	f := p.d.Finding
	if o := p.d.Overlap; o != nil {
		a, b := p.l.lanes[min(o.First, o.Second)]-16, p.l.lanes[max(o.First, o.Second)]+16
		from := p.height(o.From, o.Second)
		to := max(p.height(o.To, o.First), p.height(o.To, o.Second))
		p.l.band = &box{a, from, b - a, max(to-from, 4)}
		return
	}
	if f.Where == nil {
		return
	}
	var within []row
	for _, at := range p.times(nil) {
		if at >= f.Where.From && at <= f.Where.To {
			within = append(within, row{y: p.begins[at], height: p.finals[at] - p.begins[at]})
		}
	}
	if len(within) > 0 {
		last := within[len(within)-1]
		p.l.place = &box{p.l.times - 6, within[0].y, 4, last.y + last.height - within[0].y}
	}
}

// wrapped wraps the text of a label.
func (p *planner) wrapped(i item) []string {
	if p.d.Participants[i.lane].Role == Faults {
		return textfmt.Lines(i.text, narrowAt)
	}
	return textfmt.Lines(i.text, wrapAt)
}

// textWidth estimates the greatest width of a text in any usual sans-serif font.
func textWidth(text string) (w float64) {
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

// inMs prints an instant in milliseconds, to the microsecond, without trailing zeros.
func inMs(at history.Time) string {
	text := strconv.FormatFloat(float64(at/1000)/1000, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
