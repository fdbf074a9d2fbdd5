package sequence

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

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
			p.addRow(row{height: gapHeight, text: "⋯ " + textfmt.Duration(at.Sub(p.instant)), gap: true})
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

// addRow adds a row to the column of times.
func (p *planner) addRow(r row) {
	r.y = p.y
	p.l.rows = append(p.l.rows, r)
	p.y += r.height
}

func (p *planner) addHead() {
	p.l.heads = append(p.l.heads, p.y)
	p.y += headHeight
}

func (p *planner) addOmission(c Omission) {
	p.addRow(row{height: gapHeight, text: c.text(), cut: true})
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
	p.addRow(row{at: at, height: high - p.y, text: inMs(at)})
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
