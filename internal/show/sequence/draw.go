package sequence

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	svg "github.com/ajstarks/svgo/float"
	"github.com/lockstorm/lockstorm/internal/show/trace"
)

//go:embed sequence.css
var style string

// canvas draws a layout, with one decimal.
type canvas struct {
	*svg.SVG
	d Diagram
	l layout
}

// head draws the names of the participants alone, as wide as the drawing. A page keeps it in
// sight.
func (d Diagram) head() (svgText []byte, width float64) {
	var out bytes.Buffer
	c := canvas{svg.New(&out), d, d.layout()}
	c.Decimals = 1
	c.Start(c.l.width, headHeight-8, fmt.Sprintf(`viewBox="0 0 %.1f %d"`, c.l.width, headHeight-8), `class="sequence"`, `aria-hidden="true"`)
	c.headAt(0)
	c.End()
	return out.Bytes(), c.l.width
}

// draw draws from the background to the front. By the id the strips of the page refer to the content.
func (d Diagram) draw(id string) []byte {
	var out bytes.Buffer
	c := canvas{svg.New(&out), d, d.layout()}
	c.Decimals = 1
	c.Start(c.l.width, c.l.height, fmt.Sprintf(`viewBox="0 0 %.1f %.1f"`, c.l.width, c.l.height), `class="sequence"`, `role="img"`)
	c.Title("Message-sequence diagram: " + d.Finding.Property.Title())
	c.Group(`id="`+id+`"`, `class="sequence"`)
	c.place()
	c.times()
	c.lifelines()
	c.bars()
	c.arrows()
	c.labels()
	c.heads()
	c.Gend()
	c.End()
	return out.Bytes()
}

// strips draws the content of the drawing with an id once more, in strips from the top to the bottom.
// A page prints them instead of the drawing: a browser moves an SVG that does not fit to the next page,
// and leaves the rest of this one empty.
func (d Diagram) strips(id string) []byte {
	l := d.layout()
	var out bytes.Buffer
	out.WriteString(`<div class="strips" aria-hidden="true">`)
	for _, s := range l.strips() {
		fmt.Fprintf(&out, `<svg width="%.1f" height="%.1f" viewBox="0 %.1f %.1f %.1f"><use href="#%s"/></svg>`, l.width, s.height, s.y, l.width, s.height, id)
	}
	out.WriteString("</div>")
	return out.Bytes()
}

func class(names ...string) string { return `class="` + strings.Join(names, " ") + `"` }

func (c canvas) rect(b box, classes ...string) {
	c.Rect(b.x, b.y, b.width, b.height, class(classes...))
}

func (c canvas) place() {
	if c.l.band != nil {
		c.rect(*c.l.band, "overlap")
	}
	if c.l.place != nil {
		c.rect(*c.l.place, "place")
	}
}

// lifelines draws all lifelines but that of the faults: interrupted while a node is down or a
// client dead, dotted where time is left out.
func (c canvas) lifelines() {
	for lane, p := range c.d.Participants {
		if p.Role == trace.Fault {
			continue
		}
		x, y := c.l.lanes[lane], c.l.heads[0]+headHeight/2
		for _, gone := range c.gone(lane) {
			c.Line(x, y, x, gone.y, class("life"))
			y = max(y, gone.y+gone.height)
		}
		c.Line(x, y, x, c.l.height-4, class("life"))
		for _, r := range c.l.rows {
			if r.gap || r.cut {
				c.rect(box{x - 2, r.y + 4, 4, r.height - 8}, "skipped")
				c.Line(x, r.y+4, x, r.y+r.height-4, class("life", "dotted"))
			}
		}
	}
}

// gone returns the parts without a lifeline.
func (c canvas) gone(lane int) (all []box) {
	for _, b := range c.l.bars {
		s := c.d.Spans[b.span]
		if s.Who != lane || s.State != Down && s.State != Dead {
			continue
		}
		if s.State == Dead {
			b.height = c.l.height
		}
		all = append(all, b.box)
	}
	slices.SortFunc(all, func(a, b box) int { return int(a.y - b.y) })
	return all
}

// colours is the number of colours of clients. Further clients repeat them.
const colours = 8

func colour(client int) string {
	if client == 0 {
		return "nobodys"
	}
	return fmt.Sprintf("of-%d", (client-1)%colours+1)
}

// bars draws the spans. Their states differ by shape, not only by colour: filled, hatched in
// one or two directions, crossed out.
func (c canvas) bars() {
	for _, b := range c.l.bars {
		s := c.d.Spans[b.span]
		x := c.l.lanes[s.Who]
		switch s.State {
		case Down, Dead:
			c.cross(x, b.y, "gone")
		case Paused:
			c.rect(b.box, "paused")
			c.hatch(b.box, "paused", true)
		case Overdue:
			c.rect(b.box, "overdue", colour(s.Owner))
			c.hatch(b.box, colour(s.Owner), false)
		case Acts:
			c.rect(b.box, "acts")
			c.hatch(b.box, "acts", false)
		default:
			c.rect(b.box, string(s.State), colour(s.Owner))
		}
	}
}

// hatch fills a box with lines from the lower left to the upper right, or in both directions.
func (c canvas) hatch(b box, name string, both bool) {
	const step = 6
	var up, down strings.Builder
	for y := b.y + step; y < b.y+b.height+b.width; y += step {
		// the part inside the box of the line from the left edge at y to the right edge
		left := min(y, b.y+b.height)
		right := max(y-b.width, b.y)
		fmt.Fprintf(&up, "M%.1f %.1fL%.1f %.1f", b.x+(y-left), left, b.x+(y-right), right)
		fmt.Fprintf(&down, "M%.1f %.1fL%.1f %.1f", b.x+b.width-(y-left), left, b.x+b.width-(y-right), right)
	}
	path := up.String()
	if both {
		path += down.String()
	}
	if path != "" {
		c.Path(path, class("hatch", name))
	}
}

func (c canvas) cross(x, y float64, name string) {
	const r = 5
	c.Path(fmt.Sprintf("M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f", x-r, y-r, x+r, y+r, x-r, y+r, x+r, y-r), class("cross", name))
}

func (c canvas) times() {
	for _, r := range c.l.rows {
		switch {
		case r.cut:
			c.Text(c.l.times+labelGap, r.y+r.height/2+5, "⋯ "+r.text, class("skip", "label"))
		case r.gap:
			c.Text(c.l.times-10, r.y+r.height/2+5, r.text, class("skip", "time"))
		default:
			c.Text(c.l.times-10, r.y+15, r.text, class("time"))
			c.Line(c.l.times-4, r.y+10, c.l.width, r.y+10, class("instant"), fmt.Sprintf(`data-t="%d"`, r.at))
		}
	}
}

func (c canvas) arrows() {
	for _, a := range c.l.arrows {
		name := "request"
		if a.reply {
			name = "reply"
		}
		if a.lost {
			c.Line(a.x1, a.y1, a.x2, a.y2, class("message", name, "lost"))
			c.cross(a.x2, a.y2, "lost")
			continue
		}
		c.Line(a.x1, a.y1, a.x2, a.y2, class("message", name))
		c.tip(a)
		if a.ring1 {
			c.Circle(a.x1, a.y1, 3.5, class("ring"))
		}
		if a.ring2 {
			c.Circle(a.x2, a.y2, 3.5, class("ring"))
		}
	}
}

// tip draws the head of an arrow.
func (c canvas) tip(a arrow) {
	const long, half = 10, 4
	length := math.Hypot(a.x2-a.x1, a.y2-a.y1)
	if length == 0 {
		return
	}
	ux, uy := (a.x2-a.x1)/length, (a.y2-a.y1)/length
	x, y := a.x2-ux*4, a.y2-uy*4
	c.Polygon([]float64{x, x - ux*long - uy*half, x - ux*long + uy*half}, []float64{y, y - uy*long + ux*half, y - uy*long - ux*half}, class("tip"))
}

func (c canvas) labels() {
	for _, l := range c.l.labels {
		if l.dot != 0 {
			c.Circle(c.l.lanes[l.lane], l.dot, 3, class("dot", string(l.emphasis)))
		}
		for i, text := range l.lines {
			c.Text(l.x, l.y+float64(i)*lineHeight+13, text, class("label", string(l.emphasis)))
		}
	}
}

// heads names the participants, at the top and again at intervals.
func (c canvas) heads() {
	for _, y := range c.l.heads {
		c.headAt(y)
	}
}

func (c canvas) headAt(y float64) {
	c.rect(box{0, y, c.l.width, headHeight - 8}, "head")
	c.Text(c.l.times-10, y+21, "ms", class("time"))
	for lane, p := range c.d.Participants {
		c.Text(c.l.lanes[lane], y+21, p.String(), class("name"))
		if p.Role == trace.Client {
			c.rect(box{c.l.lanes[lane] - 22, y + 27, 44, 4}, "holding", colour(p.Number))
		}
	}
}
