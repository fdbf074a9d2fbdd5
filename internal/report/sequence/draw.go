package sequence

import (
	"bytes"
	_ "embed" // for how it looks
	"fmt"
	"math"
	"slices"
	"strings"

	svg "github.com/ajstarks/svgo/float"

	"github.com/lockstorm/lockstorm/internal/report/document"
)

//go:embed sequence.css
var style string

// SVG returns the diagram as a file of its own.
func (d Diagram) SVG() []byte {
	return d.draw(document.Colours + style + alone)
}

// alone is what a page gives to a drawing, and a file of its own has to bring.
const alone = `svg { background: var(--ground); font-family: system-ui, "Liberation Sans", Arial, sans-serif; }
`

// canvas draws a layout. Numbers have one decimal.
type canvas struct {
	*svg.SVG
	d Diagram
	l layout
}

// draw draws from behind to the front: what lies over something else comes later. Of a
// drawing in a page the page has the styles.
func (d Diagram) draw(styles string) []byte {
	var out bytes.Buffer
	c := canvas{svg.New(&out), d, d.layout()}
	c.Decimals = 1
	c.Start(c.l.wide, c.l.high, fmt.Sprintf(`viewBox="0 0 %.1f %.1f"`, c.l.wide, c.l.high), `class="sequence"`, `role="img"`)
	c.Title("Message-sequence diagram: " + d.Finding.Property.Title())
	if styles != "" {
		c.Style("text/css", styles)
	}
	c.place()
	c.times()
	c.lifelines()
	c.bars()
	c.arrows()
	c.labels()
	c.heads()
	c.End()
	return out.Bytes()
}

func class(names ...string) string { return `class="` + strings.Join(names, " ") + `"` }

func (c canvas) rect(b box, classes ...string) { c.Rect(b.x, b.y, b.wide, b.high, class(classes...)) }

func (c canvas) place() {
	if c.l.band != nil {
		c.rect(*c.l.band, "overlap")
	}
	if c.l.place != nil {
		c.rect(*c.l.place, "place")
	}
}

// lifelines draws those of all but the faults: broken where a node is down, dotted where
// time is left out, and none of who is dead.
func (c canvas) lifelines() {
	for lane, p := range c.d.Participants {
		if p.Role == Faults {
			continue
		}
		x, y := c.l.lanes[lane], c.l.heads[0]+headHigh/2
		for _, gone := range c.gone(lane) {
			c.Line(x, y, x, gone.y, class("life"))
			y = max(y, gone.y+gone.high)
		}
		c.Line(x, y, x, c.l.high-4, class("life"))
		for _, r := range c.l.rows {
			if r.gap || r.cut {
				c.rect(box{x - 2, r.y + 4, 4, r.high - 8}, "skipped")
				c.Line(x, r.y+4, x, r.y+r.high-4, class("life", "dotted"))
			}
		}
	}
}

// gone is where there is no lifeline.
func (c canvas) gone(lane int) (all []box) {
	for _, b := range c.l.bars {
		s := c.d.Spans[b.span]
		if s.Who != lane || s.State != Down && s.State != Dead {
			continue
		}
		if s.State == Dead {
			b.high = c.l.high
		}
		all = append(all, b.box)
	}
	slices.SortFunc(all, func(a, b box) int { return int(a.y - b.y) })
	return all
}

// colours is how many there are for clients; beyond, they come again.
const colours = 8

func colour(client int) string {
	if client == 0 {
		return "nobodys"
	}
	return fmt.Sprintf("of-%d", (client-1)%colours+1)
}

// bars draws the spans. Their states are told apart by their shapes: filled, hatched one
// way or both, crossed out.
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

// hatch fills a box with lines from the lower left to the upper right, or with both kinds.
func (c canvas) hatch(b box, name string, both bool) {
	const step = 6
	var up, down strings.Builder
	for y := b.y + step; y < b.y+b.high+b.wide; y += step {
		// the line from the left edge at y to the right edge, cut off by the box
		left := min(y, b.y+b.high)
		right := max(y-b.wide, b.y)
		fmt.Fprintf(&up, "M%.1f %.1fL%.1f %.1f", b.x+(y-left), left, b.x+(y-right), right)
		fmt.Fprintf(&down, "M%.1f %.1fL%.1f %.1f", b.x+b.wide-(y-left), left, b.x+b.wide-(y-right), right)
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
			c.Text(c.l.times+nearWide, r.y+r.high/2+5, "⋯ "+r.text, class("skip", "label"))
		case r.gap:
			c.Text(c.l.times-10, r.y+r.high/2+5, r.text, class("skip", "time"))
		default:
			c.Text(c.l.times-10, r.y+15, r.text, class("time"))
			c.Line(c.l.times-4, r.y+10, c.l.wide, r.y+10, class("instant"))
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
			c.Circle(c.l.lanes[l.lane], l.dot, 3, class("dot", string(l.mood)))
		}
		for i, text := range l.lines {
			c.Text(l.x, l.y+float64(i)*lineHigh+13, text, class("label", string(l.mood)))
		}
	}
}

// heads names the participants, at the top and again wherever one would have to look for
// the names.
func (c canvas) heads() {
	for _, y := range c.l.heads {
		c.rect(box{0, y, c.l.wide, headHigh - 8}, "head")
		c.Text(c.l.times-10, y+21, "ms", class("time"))
		for lane, p := range c.d.Participants {
			c.Text(c.l.lanes[lane], y+21, p.Name, class("name"))
			if p.Role == Client {
				c.rect(box{c.l.lanes[lane] - 22, y + 27, 44, 4}, "holding", colour(p.Number))
			}
		}
	}
}
