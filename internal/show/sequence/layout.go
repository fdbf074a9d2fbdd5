package sequence

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
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

// stripHeight is the least height of a strip: on paper a tenth of a page or less.
const stripHeight = 180

// row is an entry in the column of times: an instant, a gap or an omission.
type row struct {
	at        history.Time // of an instant
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

// strips divides the drawing between rows, so that no label is cut.
func (l layout) strips() (all []box) {
	s := box{width: l.width}
	for _, r := range l.rows {
		if r.y-s.y >= stripHeight && l.height-r.y >= stripHeight {
			s.height = r.y - s.y
			all, s.y = append(all, s), r.y
		}
	}
	s.height = l.height - s.y
	return append(all, s)
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
	if from.Role != trace.Node {
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
		need[i] = max(laneWidth-labelGap-lostWidth, textWidth(q.String())/2+20)
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

// text says what is left out.
func (c Omission) text() string {
	return fmt.Sprintf("%s and %s are left out, from %s to %s ms", textfmt.Count(c.Messages, "message"), textfmt.Count(c.Events, "event"), inMs(c.From), inMs(c.To))
}

// wrapped wraps the text of a label.
func (p *planner) wrapped(i item) []string {
	if p.d.Participants[i.lane].Role == trace.Fault {
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
