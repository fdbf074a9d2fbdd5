package sequence

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// traced runs a scenario, and returns its trace and its report.
func traced(t *testing.T, s scenarios.Scenario, seed uint64) (*trace.Trace, checker.Report) {
	t.Helper()
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	e, tr := trace.Of(e)
	r, err := e.Run(t.Context(), seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tr, r.Report
}

func load(t *testing.T, path string) cases.Case {
	t.Helper()
	c, err := cases.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const saved = "../../../testdata/cases/"

// ofCase draws a saved case.
func ofCase(t *testing.T, name string) Diagram {
	t.Helper()
	c := load(t, saved+name+cases.Extension)
	tr, report := traced(t, c.Scenario, c.Seed)
	return Of(tr, report.Finding(c.Property))
}

// Every saved case is drawn. The drawing is XML, has each message once, and no label covers another or
// leaves the drawing. The frame of an overlap is where the checker has it.
func TestEveryCaseIsDrawn(t *testing.T) {
	all, err := filepath.Glob(saved + "*" + cases.Extension)
	if err != nil {
		t.Fatal(err)
	}
	framed := 0
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), cases.Extension)
		t.Run(name, func(t *testing.T) {
			d := ofCase(t, name)
			check(t, d)
			if checkFrame(t, d) {
				framed++
			}
		})
	}
	if framed == 0 {
		t.Error("no overlap among all cases")
	}
}

// shapes reads an SVG as XML, and counts its elements by name and class.
func shapes(t *testing.T, drawing []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	for read := xml.NewDecoder(bytes.NewReader(drawing)); ; {
		token, err := read.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		e, is := token.(xml.StartElement)
		if !is {
			continue
		}
		count[e.Name.Local]++
		for _, a := range e.Attr {
			if a.Name.Local == "class" {
				for _, c := range strings.Fields(a.Value) {
					count[e.Name.Local+"."+c]++
				}
			}
		}
	}
}

func check(t *testing.T, d Diagram) {
	t.Helper()
	l := d.layout()
	if drawn := shapes(t, d.draw(d.id())); drawn["line.message"] != len(d.Messages) {
		t.Errorf("%d arrows are drawn of %d messages", drawn["line.message"], len(d.Messages))
	}
	of := map[int]int{}
	for _, a := range l.arrows {
		of[a.message]++
	}
	for i, m := range d.Messages {
		if of[i] != 1 {
			t.Errorf("%d arrows of message %d, %+v", of[i], i, m)
		}
	}
	checkLabels(t, l)
	checkTimes(t, d, l)
}

func checkLabels(t *testing.T, l layout) {
	t.Helper()
	for i, a := range l.labels {
		if a.x < 0 || a.y < 0 || a.x+a.width > l.width || a.y+a.height > l.height {
			t.Errorf("%q is outside of the drawing", a.lines)
		}
		for _, b := range l.labels[i+1:] {
			if a.meets(b.box) {
				t.Errorf("%q and %q overlap", a.lines, b.lines)
			}
		}
		for lane, x := range l.lanes {
			if lane != a.lane && a.x < x && x < a.x+a.width {
				t.Errorf("%q is written across the lifeline of another", a.lines)
			}
		}
		for _, r := range l.rows {
			if (r.gap || r.cut) && a.y+a.height > r.y && a.y < r.y+r.height {
				t.Errorf("%q is written in a gap", a.lines)
			}
		}
	}
}

// checkTimes checks that a later point with a known time is lower.
func checkTimes(t *testing.T, d Diagram, l layout) {
	t.Helper()
	for _, a := range l.arrows {
		if m := d.Messages[a.message]; !m.Lost && (m.Sent.At < m.Received.At || m.Sent == m.Received) && a.y1 >= a.y2 {
			t.Errorf("a message received later than sent does not slant downwards: %+v", m)
		}
	}
	type way struct{ round, node int }
	came := map[way]float64{}
	for _, a := range l.arrows {
		switch m := d.Messages[a.message]; {
		case m.Round == 0 || m.Lost:
		case !m.Reply:
			came[way{m.Round, m.To}] = a.y2
		case came[way{m.Round, m.From}] > a.y1:
			t.Errorf("a reply is sent before its request is received: %+v", m)
		}
	}
	y := map[int]float64{}
	for _, label := range l.labels {
		if label.dot == 0 {
			continue
		}
		if label.dot <= y[label.lane] {
			t.Errorf("%q is not below what was before it", label.lines)
		}
		y[label.lane] = label.dot
	}
	for i := 1; i < len(l.rows); i++ {
		if l.rows[i].y < l.rows[i-1].y+l.rows[i-1].height {
			t.Errorf("row %q overlaps the one above it", l.rows[i].text)
		}
	}
}

// Runs of any fault can be drawn: a third of the rows, each with faults of its own.
func TestRunsWithRandomFaultsAreDrawn(t *testing.T) {
	for i, s := range scenarios.All() {
		if i%3 != 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			tr, report := traced(t, runner.WithGenerator(s, nemesis.Generator{Most: 4}), uint64(i+1))
			f := report.Finding(checker.Lease)
			if i := slices.IndexFunc(report.Findings, func(f checker.Finding) bool { return f.Verdict == checker.Violated }); i >= 0 {
				f = report.Findings[i]
			}
			check(t, Of(tr, f))
		})
	}
}

// checkFrame checks that the frame of an overlap goes from the grant of the second hold to the end of the
// first that ends, as the checker has them. Without an overlap there is none.
func checkFrame(t *testing.T, d Diagram) (framed bool) {
	t.Helper()
	f := d.Finding
	is := f.Verdict == checker.Violated && (f.Property == checker.Lease || f.Property == checker.Section)
	if is != (d.Overlap != nil) {
		t.Fatalf("%s is %v, and an overlap is drawn: %v", f.Property, f.Verdict, d.Overlap != nil)
	}
	if !is {
		return false
	}
	o, l := d.Overlap, d.layout()
	if o.From.At != f.First.From || o.To.At != f.First.To {
		t.Errorf("the overlap is from %v to %v, and the checker's from %v to %v", o.From.At, o.To.At, f.First.From, f.First.To)
	}
	for i, who := range []int{o.First, o.Second} {
		if want := []checker.Grant{f.First.First, f.First.Second}[i].Client; d.Participants[who].Number != want {
			t.Errorf("the frame is of %s, and the checker means client %d", d.Participants[who].String(), want)
		}
	}
	if !slices.ContainsFunc(d.Events, func(e Event) bool { return e.At == o.From && e.Who == o.Second && e.Emphasis == Good }) {
		t.Error("the overlap does not begin with the grant of the second")
	}
	if !slices.ContainsFunc(d.Events, func(e Event) bool { return e.At == o.To && (e.Who == o.First || e.Who == o.Second) }) {
		t.Error("the overlap does not end with something that happened to one of both")
	}
	begin, end := 0.0, l.height
	for _, b := range l.bars {
		if s := d.Spans[b.span]; (s.Who == o.First || s.Who == o.Second) && (s.State == Holding || s.State == Overdue) &&
			s.From.At <= o.From.At && s.To.At >= o.To.At {
			begin, end = max(begin, b.y), min(end, b.y+b.height)
		}
	}
	if l.band.y != begin || l.band.y+l.band.height != end {
		t.Errorf("the frame is drawn from %v to %v, and the bars of both holds from %v to %v", l.band.y, l.band.y+l.band.height, begin, end)
	}
	return true
}

// String prints the model, a line for each thing that is drawn.
func (d Diagram) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	name := func(i int) string { return d.Participants[i].String() }
	for _, p := range d.Participants {
		line("lifeline %v", p)
	}
	for _, m := range d.Messages {
		line("message %s → %s: %s", d.end(m.From, m.Sent, m.SentKnown), d.end(m.To, m.Received, m.ReceivedKnown), m.label())
	}
	for _, e := range d.Events {
		line("%s %v %s: %s", e.Emphasis, inMs(e.At.At), name(e.Who), e.Text)
	}
	for _, s := range d.Spans {
		open := ""
		if s.Open {
			open = " and on"
		}
		line("%s %s–%s%s %s: %s", s.State, inMs(s.From.At), inMs(s.To.At), open, name(s.Who), s.Text)
	}
	if o := d.Overlap; o != nil {
		line("overlap %s–%s %s and %s", inMs(o.From.At), inMs(o.To.At), name(o.First), name(o.Second))
	}
	for _, c := range d.Omissions {
		line("cut: %s", c.text())
	}
	return b.String()
}

func (d Diagram) end(who int, at Point, known bool) string {
	if !known {
		return d.Participants[who].String()
	}
	return inMs(at.At) + " " + d.Participants[who].String()
}

// label is the message's text and its fate.
func (m Message) label() string {
	text := m.Text
	if m.Lost {
		text = strings.TrimSpace(text + " ✗ " + fault(m.Fault))
	}
	return text
}

// The models of some cases. Messages arrive when the nodes' events say so; where these say nothing, the time
// is unknown.
func TestGoldenModels(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the traces are those of amd64: floating point may differ between architectures")
	}
	var all strings.Builder
	for _, name := range []string{
		"redlock-lease-crash-restart", "redlock-cleanup-late-straggler", "redlock-section-pause-then-write", "zookeeper-contract-validity-at-the-check", "redlock-lease-wall-step",
	} {
		all.WriteString("== " + name + "\n" + ofCase(t, name).String() + "\n")
	}
	testkit.GoldenFile(t, "testdata/cases.txt", all.String(), "Something else is drawn of a run, or it is another run.")
}

// A shortened diagram keeps the overlap, and counts and names what it leaves out.
func TestLongRunIsShortened(t *testing.T) {
	c := load(t, saved+"redlock-lease-crash-restart"+cases.Extension)
	tr, report := traced(t, c.Scenario, c.Seed)
	f := report.Finding(c.Property)
	whole := Of(tr, f)
	for _, most := range []int{3, 6, 9, 12} {
		d := complete(tr, f).shorten(most)
		check(t, d)
		left, events := 0, 0
		for _, cut := range d.Omissions {
			left, events = left+cut.Messages, events+cut.Events
			if !strings.Contains(d.Caption(), cut.text()) {
				t.Errorf("the caption does not say that %s", cut.text())
			}
		}
		if left == 0 || left+len(d.Messages) != len(whole.Messages) || events+len(d.Events) != len(whole.Events) {
			t.Errorf("at most %d messages: %d are kept and %d left out, of %d; of events %d and %d, of %d",
				most, len(d.Messages), left, len(whole.Messages), len(d.Events), events, len(whole.Events))
		}
		if l := d.layout(); d.Overlap == nil || l.band == nil || !strings.Contains(d.String(), "BOTH HOLD") {
			t.Errorf("at most %d messages: the overlap is not shown", most)
		}
	}
	if len(whole.Omissions) != 0 {
		t.Errorf("of a short run %d parts are left out", len(whole.Omissions))
	}
}

// hostile is the name of a resource or a token.
const hostile = "<script>]]>&\"'\x00\u202e</text>"

// Texts are escaped, in the drawing and in the page.
func TestTextsAreEscaped(t *testing.T) {
	tr := trace.New(env.Monotonic)
	tr.Open(history.Header{Nodes: 1, Clients: 2}, nil)
	tr.Record(&history.Event{Kind: history.FaultStart, Fault: 1, Detail: hostile})
	tr.Record(&history.Event{Kind: history.Acquire, Client: 1, Resource: hostile, Token: hostile})
	tr.Sent(1, 1, env.SetOf(1), env.Command{Op: env.OpSet, Key: hostile, Token: hostile})
	tr.Record(&history.Event{Time: 1e6, Kind: history.KeySet, Node: 1, Client: 1, Resource: hostile, Token: hostile})
	tr.Replied(1, 1, env.Reply{Node: 1, Answer: env.Failed, Err: errors.New(hostile)})
	tr.Record(&history.Event{Time: 2e6, Kind: history.Refused, Client: 1, Resource: hostile, Token: hostile, Reason: hostile})
	tr.Record(&history.Event{Time: 3e6, Kind: history.End, Reason: hostile})
	d := Of(tr, checker.Finding{Property: checker.Lease, Verdict: checker.Violated, Events: []checker.Event{{Text: hostile}}})
	check(t, d)
	if n := shapes(t, d.draw(d.id()))["script"]; n != 0 {
		t.Errorf("%d scripts in a drawing", n)
	}
	var page strings.Builder
	doc := document.Document{Title: "hostile"}
	doc.Add("diagram", d.Block())
	if err := doc.Write(&page); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "<script>"); n != 1 {
		t.Errorf("%d scripts in the page; want its own", n)
	}
	if strings.Contains(page.String(), "]]>&\"") {
		t.Error("a text stands in the page as it is")
	}
}

// An empty trace gives an empty drawing.
func TestEmptyTrace(t *testing.T) {
	tr := trace.New(env.Monotonic)
	tr.Open(history.Header{Nodes: 1, Clients: 1}, nil)
	check(t, Of(tr, checker.Finding{Property: checker.Lease}))
}
