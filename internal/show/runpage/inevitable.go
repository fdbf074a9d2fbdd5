package runpage

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/search/inevitable"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// inevitableBlocks shows how the violation of a run became inevitable: the probability over the time
// of the run, what decided, and the but-for table.
func inevitableBlocks(a *inevitable.Analysis) []document.Block {
	if a == nil {
		return nil
	}
	points := document.Table{Columns: document.Named("time", "events", "what has just happened", "violated", "95 % interval")}
	for _, p := range a.Points {
		points.Add(document.Number(float64(p.Time), textfmt.Duration(p.Time.Sub(0))), document.Count(p.Event), document.Text(p.Text()),
			document.Number(p.Violated.Share(), p.Violated.Percent()), document.Text(p.Violated.Interval()))
	}
	blocks := []document.Block{
		document.Heading("The point of no return: " + a.Property.Title()),
		document.Notice{Mark: document.Bad, Text: strings.Join(a.Sentences(), " ")},
		document.Figure{
			ID: "inevitable", SVG: strip(a), Data: &points,
			Caption: "The probability that the property is violated, after each event of the run: the share of futures that violate it. After the event, a future draws all random numbers anew, and each fault to come takes place or not, with probability 1/2. Its axis is that of the timeline: zoom there. Dots link to the finding in the timeline.",
		},
	}
	return slices.Concat(blocks, butForFaults(a), butForMessages(a))
}

// butForFaults is the table of the faults.
func butForFaults(a *inevitable.Analysis) []document.Block {
	if len(a.ButFor) == 0 {
		return nil
	}
	butFor := document.Table{Columns: document.Named("without fault", "what", "violated", "with all faults", "role")}
	for _, b := range a.ButFor {
		butFor.Add(document.Count(b.Fault), document.Text(b.What), document.Number(b.Violated.Share(), b.Violated.Percent()),
			document.Number(b.With.Share(), b.With.Percent()), roleCell(b.Role))
	}
	return []document.Block{butFor}
}

// butForMessages is the table of the messages.
func butForMessages(a *inevitable.Analysis) []document.Block {
	n := len(a.Messages) + a.Others
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("If one of the last %s before the violation had taken another time: %s.", textfmt.Count(n, "message"), a.MessagesSentence())
	if len(a.Messages) == 0 {
		return []document.Block{document.Prose(text)}
	}
	t := document.Table{Columns: document.Named("sent", "message", "violated", "role")}
	for _, m := range a.Messages {
		t.Add(document.Number(float64(m.Sent), textfmt.Duration(m.Sent.Sub(0))), document.Text(m.Message.String()), document.Number(m.Violated.Share(), m.Violated.Percent()), roleCell(m.Role))
	}
	return []document.Block{document.Prose(text), t}
}

func roleCell(r inevitable.Role) document.Cell {
	mark := document.Plain
	if r == inevitable.Necessary {
		mark = document.Bad
	}
	return document.Cell{Text: string(r), Mark: mark}
}

// The strip's measures, in pixels.
const (
	stripWide, stripHigh         = 960, 190
	stripLeft, stripTop          = 52, 14
	stripRight, stripBottom      = 924, 150
	stripTimeLabel, stripPercent = 168, 46
)

// strip draws the curve.
func strip(a *inevitable.Analysis) []byte {
	s := stripOf(a)
	var b bytes.Buffer
	if err := stripTemplate.Execute(&b, s); err != nil {
		panic(err) // the template has no failing part
	}
	return b.Bytes()
}

// drawnStrip is the parts of the drawing.
type drawnStrip struct {
	Wide, High, Left, Right, Axis, Top, Bottom, TimeLabel, PercentLabel int

	Band, Line string // the interval and the curve, as paths
	Dots       []stripDot
	Levels     []stripLabel
	Times      []stripLabel
	Link       string
	End        int64 // the time at the right end, ns
}

type stripDot struct {
	X, Y  float64
	Time  int64 // ns
	Jump  bool
	Title string
}

type stripLabel struct {
	At    float64
	Share float64 // of the axis
	Text  string
}

func stripOf(a *inevitable.Analysis) drawnStrip {
	s := drawnStrip{
		Wide: stripWide, High: stripHigh, Left: stripLeft, Right: stripRight, Axis: stripRight - stripLeft, Top: stripTop, Bottom: stripBottom,
		TimeLabel: stripTimeLabel, PercentLabel: stripPercent, Link: "#find-" + a.Property.Code(),
	}
	end := max(a.Points[len(a.Points)-1].Time, 1)
	s.End = int64(end)
	x := func(at history.Time) float64 { return stripLeft + float64(at)/float64(end)*(stripRight-stripLeft) }
	y := func(share float64) float64 { return stripBottom - share*(stripBottom-stripTop) }
	jumps := map[int]bool{}
	for _, j := range a.Jumps {
		jumps[j.After.Event] = true
	}
	var low, high strings.Builder
	var back []string
	for i, p := range a.Points {
		at, share := x(p.Time), p.Violated.Share()
		l, h := p.Violated.Wilson()
		if i == 0 {
			fmt.Fprintf(&low, "M%.1f %.1f", at, y(share))
			fmt.Fprintf(&high, "M%.1f %.1f", at, y(h))
		} else {
			fmt.Fprintf(&low, "H%.1fV%.1f", at, y(share))
			fmt.Fprintf(&high, "H%.1fV%.1f", at, y(h))
		}
		next := x(end)
		if i+1 < len(a.Points) {
			next = x(a.Points[i+1].Time)
		}
		back = append(back, fmt.Sprintf("H%.1fV%.1f", next, y(l)), fmt.Sprintf("H%.1f", at))
		s.Dots = append(s.Dots, stripDot{at, y(share), int64(p.Time), jumps[p.Event], fmt.Sprintf("%s: %s %s: %s", textfmt.Duration(p.Time.Sub(0)), p.Violated.Percent(), p.Violated.Interval(), p.Text())})
	}
	s.Line = low.String()
	for i := len(back) - 2; i >= 0; i -= 2 { // from right to left
		high.WriteString(back[i] + back[i+1])
	}
	s.Band = high.String() + "Z"
	for _, share := range []float64{0, 0.5, 1} {
		s.Levels = append(s.Levels, stripLabel{y(share), share, fmt.Sprintf("%.0f %%", 100*share)})
	}
	for i := range 5 {
		at := end * history.Time(i) / 4
		s.Times = append(s.Times, stripLabel{x(at), float64(i) / 4, textfmt.Duration(at.Sub(0))})
	}
	return s
}

var stripTemplate = template.Must(template.New("strip").Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Wide}} {{.High}}" width="{{.Wide}}" height="{{.High}}" role="img" aria-label="the probability of the violation over the time of the run" font-size="12" fill="var(--ink)" data-curve="{{.End}}" data-left="{{.Left}}" data-right="{{.Right}}">
{{range .Levels}}<line x1="{{$.Left}}" x2="{{$.Right}}" y1="{{.At}}" y2="{{.At}}" stroke="var(--line)"/><text x="{{$.PercentLabel}}" y="{{.At}}" dy="4" text-anchor="end" fill="var(--soft)">{{.Text}}</text>
{{end}}{{range .Times}}<text x="{{.At}}" y="{{$.TimeLabel}}" text-anchor="middle" fill="var(--soft)" data-share="{{.Share}}">{{.Text}}</text>
{{end}}<svg x="{{.Left}}" width="{{.Axis}}" height="{{.High}}" viewBox="{{.Left}} 0 {{.Axis}} {{.High}}"><g data-scaled=""><path d="{{.Band}}" fill="var(--bad-ground)"/><path d="{{.Line}}" fill="none" stroke="var(--bad)" stroke-width="2" vector-effect="non-scaling-stroke"/></g></svg>
{{range .Dots}}<a href="{{$.Link}}"><circle data-t="{{.Time}}" cx="{{.X}}" cy="{{.Y}}" r="{{if .Jump}}6{{else}}3{{end}}" fill="var(--bad)"><title>{{.Title}}</title></circle></a>
{{end}}</svg>
`))
