package counterexample_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/counterexample"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// judged is a history with its report.
type judged struct {
	text   string
	report checker.Report
}

// write stores a history and checks it.
func write(h history.Header, events ...history.Event) judged {
	c := checker.New(h)
	for i := range events {
		c.Record(&events[i])
	}
	return judged{historytest.Text(h, events), c.Finish()}
}

func (h judged) open() (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(h.text)), nil
}

// draw draws all pictures, by name.
func (h judged) draw(t *testing.T) map[string]page {
	t.Helper()
	all := map[string]page{}
	for _, p := range counterexample.Of(h.report) {
		text, err := p.Page(h.open)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		for _, property := range p.Properties() {
			all[property.String()] = read(t, string(text))
		}
		all[p.Name] = read(t, string(text))
	}
	return all
}

// page is a picture, and the data for porcupine's script.
type page struct {
	text string
	data struct {
		Partitions []struct {
			History []struct {
				ClientId, Start, End       int
				OriginalStart, OriginalEnd string
				Description, Metadata      string
			}
			PartialLinearizations [][]struct{ StateDescription string }
		}
		Annotations []struct {
			Tag, Description, Details, BackgroundColor string
			Start, End                                 int
		}
	}
	facts struct {
		Names []string
		Look  int
	}
}

func read(t *testing.T, text string) page {
	t.Helper()
	p := page{text: text}
	for find, into := range map[string]any{`(?m)^\s*const data = (\{.*\})$`: &p.data, `(?m)^\s*const facts = (\{.*\})$`: &p.facts} {
		found := regexp.MustCompile(find).FindAllStringSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("%d of %s in the page", len(found), find)
		}
		if err := json.Unmarshal([]byte(found[0][1]), into); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p page) operations() int {
	n := 0
	for _, part := range p.data.Partitions {
		n += len(part.History)
	}
	return n
}

// rows checks that boxes do not overlap.
func (p page) rows(t *testing.T, name string) {
	t.Helper()
	type box struct{ from, to int }
	rows := map[string][]box{}
	for _, part := range p.data.Partitions {
		for _, o := range part.History {
			rows[p.facts.Names[o.ClientId]] = append(rows[p.facts.Names[o.ClientId]], box{2 * o.Start, 2*o.End + 1}) // closed
		}
	}
	for _, a := range p.data.Annotations {
		rows[a.Tag] = append(rows[a.Tag], box{2 * a.Start, max(2*a.End, 2*a.Start+1)})
	}
	for row, boxes := range rows {
		slices.SortFunc(boxes, func(a, b box) int { return a.from - b.from })
		for i := 1; i < len(boxes); i++ {
			if boxes[i].from < boxes[i-1].to {
				t.Errorf("%s: boxes overlap in row %q: %v", name, row, boxes)
			}
		}
	}
}

var simulator = simulated.Backend()

// run runs a scenario once and keeps its history.
func run(t *testing.T, s scenarios.Scenario) judged {
	t.Helper()
	e, err := runner.Prepare(simulator, s)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := history.NewWriter(&b, e.Header(1))
	r, err := e.Run(t.Context(), 1, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return judged{b.String(), r.Report}
}

// also are scenarios with undecided or violated properties that the debate does not have.
var also = []string{
	"compare-calm-check-then-set", "compare-pause-waiting-etcd-unchecked", "compare-death-halfway-setnx-then-expire",
	"compare-one-down-check-then-set", "compare-one-down-setnx-then-expire",
}

// All violated or undecided findings of every scenario are drawn, and nothing else. Porcupine
// finds no order for a violated exclusion, effect or fence. All times occur in the history, and
// no boxes overlap.
func TestFindingsAreDrawn(t *testing.T) {
	all := scenarios.All()
	for _, name := range also {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	seen := map[string]int{}
	for _, s := range all {
		h := run(t, s)
		pages := h.draw(t)
		instants := instantsOf(h.text)
		for _, f := range h.report.Findings {
			name := f.Property.String()
			p, drawn := pages[name]
			if wrong := f.Verdict == checker.Violated || f.Verdict == checker.Unknown && h.report.Cut == ""; wrong != drawn {
				t.Errorf("%s: %v is %v, and drawn: %v", s.Name, f.Property, f.Verdict, drawn)
			}
			if !drawn {
				continue
			}
			seen[name+" "+f.Verdict.String()]++
			if f.Property == checker.FaultTolerance && f.Verdict == checker.Violated && len(p.red(fmt.Sprintf("client %d calls", f.Where.Client))) == 0 {
				t.Errorf("%s: refused tries are not drawn", s.Name)
			}
			refuted := strings.Contains(p.text, "Porcupine finds no order of these operations")
			if f.Verdict == checker.Violated && !refuted && slices.Contains([]checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence}, f.Property) {
				t.Errorf("%s: %v is violated (%s), and porcupine does not find it in the picture", s.Name, f.Property, f.Story())
			}
			if n := p.operations(); n > 200 {
				t.Errorf("%s: %d operations are too many", s.Name, n)
			}
			p.times(t, s.Name, instants)
			p.rows(t, s.Name+", "+name)
		}
	}
	for _, p := range []string{"lease violated", "section violated", "effect violated", "fence violated", "deadlock_freedom violated", "fault_tolerance violated", "fault_tolerance unknown", "contract violated"} {
		if seen[p] == 0 {
			t.Errorf("no picture of %s was drawn: the test covers too little", p)
		}
	}
}

// instantsOf lists the instants of a stored history, as porcupine prints them.
func instantsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^\{"t":(\d+),`).FindAllStringSubmatch(text, -1) {
		all[found[1]] = true
	}
	return all
}

// times checks that operations begin and end at events. An access with an unknown result may
// last a moment longer than everything else.
func (p page) times(t *testing.T, name string, instants map[string]bool) {
	t.Helper()
	for _, part := range p.data.Partitions {
		for _, o := range part.History {
			perhaps := strings.Contains(o.Metadata, "may have been applied or not")
			if !instants[o.OriginalStart] || !instants[o.OriginalEnd] && !perhaps {
				t.Errorf("%s: %s is drawn from %s to %s, and nothing happened then", name, o.Description, o.OriginalStart, o.OriginalEnd)
			}
		}
	}
}

const ms = history.Time(time.Millisecond)

// hold is a grant of a client, a millisecond after its call, that is released later.
func hold(client int, resource, token string, call, release history.Time) []history.Event {
	e := history.Event{Client: client, Resource: resource, Token: token}
	at := func(t history.Time, k history.Kind) history.Event {
		e.Time, e.Kind = t, k
		return e
	}
	granted := at(call+ms, history.Granted)
	granted.Validity, granted.Until = time.Hour, int64(time.Hour)
	released := at(release+ms, history.Released)
	released.Outcome = history.OK
	return []history.Event{at(call, history.Acquire), granted, at(release, history.Release), released}
}

// story merges events into one history.
func story(parts ...[]history.Event) []history.Event {
	all := slices.Concat(parts...)
	slices.SortStableFunc(all, func(a, b history.Event) int { return int(a.Time - b.Time) })
	last := all[len(all)-1].Time
	return append(all, history.Event{Time: last + ms, Kind: history.End})
}

// reader counts the bytes that are read.
type reader struct {
	io.Reader
	n int
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

// The picture of a long history shows the part around the violation, says what it leaves out,
// and reads no further than necessary.
func TestLongHistoryIsCut(t *testing.T) {
	const holds, overlap = 20_000, 5_000
	var parts [][]history.Event
	for i := range holds {
		until := history.Time(10*i+5) * ms
		if i == overlap {
			until += 8 * ms
		}
		parts = append(parts, hold(i%3+1, "r", fmt.Sprint("token", i), history.Time(10*i)*ms, until))
	}
	h := write(history.Header{Nodes: 1, Clients: 3}, story(parts...)...)
	read := &reader{Reader: strings.NewReader(h.text)}
	pictures := counterexample.Of(h.report)
	if len(pictures) == 0 || pictures[0].Name != "lease" {
		t.Fatalf("pictures: %+v", pictures)
	}
	text, err := pictures[0].Page(func() (io.ReadCloser, error) { return io.NopCloser(read), nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"token5000", "token5001", "Porcupine finds no order", "Not shown: 4,996 earlier holds and everything after 50."} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q in the page", part)
		}
	}
	if read.n > len(h.text)/2 {
		t.Errorf("%d of %d bytes were read, though all is over after a quarter", read.n, len(h.text))
	}
}

// Texts of the history are escaped everywhere.
func TestTextsAreEscaped(t *testing.T) {
	const script, image = "<script>alert(1)</script>", `<img src=x onerror="alert(2)">`
	fence := func(e []history.Event) []history.Event { e[1].Fence = 7; return e }
	fault := history.Event{Time: ms, Kind: history.FaultStart, Fault: 1, Detail: image + "</script></body>"}
	access := func(client int, token string, from history.Time) []history.Event {
		e := history.Event{Client: client, Resource: script, Token: token, Time: from, Kind: history.Read}
		done, write, written := e, e, e
		done.Time, done.Kind, done.Outcome = from+ms, history.ReadDone, history.OK
		write.Time, write.Kind, write.Value = from+2*ms, history.Write, 1
		written.Time, written.Kind, written.Value, written.Outcome = from+3*ms, history.WriteDone, 1, history.OK
		return []history.Event{e, done, write, written}
	}
	h := write(history.Header{Nodes: 1, Clients: 2, Scenario: script, Backend: image, Bounds: history.Bounds{Acquire: 1}},
		story([]history.Event{fault}, fence(hold(1, script, image, 0, 20*ms)), fence(hold(2, script, script, 2*ms, 9*ms)),
			access(1, image, 4*ms), access(2, script, 4*ms))...)
	pages := h.draw(t)
	for _, name := range []string{"lease", "section", "effect", "fence", "contract"} {
		p, drawn := pages[name]
		if !drawn {
			t.Errorf("no picture of %s", name)
			continue
		}
		if strings.Contains(p.text, "alert(1)<") || strings.Contains(p.text, "<img") || strings.Count(p.text, "</body>") != 1 || strings.Count(p.text, "<script>") != 2 {
			t.Errorf("%s: the page does not escape a text", name)
		}
		for _, part := range p.data.Partitions { // porcupine's script treats these as HTML
			for _, o := range part.History {
				if strings.ContainsAny(o.Metadata, "<>") {
					t.Errorf("%s: %q is not escaped", name, o.Metadata)
				}
			}
			for _, l := range part.PartialLinearizations {
				for _, step := range l {
					if strings.ContainsAny(step.StateDescription, "<>") {
						t.Errorf("%s: %q is not escaped", name, step.StateDescription)
					}
				}
			}
		}
	}
}

// A truncated history has one picture of its end, for all that is unknown.
func TestCutHistoryIsDrawnOnce(t *testing.T) {
	events := story(hold(1, "r", "a", 0, 4*ms))
	events[len(events)-1].Reason = "stopped: enough"
	h := write(history.Header{Nodes: 1, Clients: 1}, events...)
	pages := h.draw(t)
	p, drawn := pages[counterexample.Cut]
	if n := len(counterexample.Of(h.report)); n != 1 || !drawn || p.operations() != 2 || !strings.Contains(p.text, "stopped: enough") {
		t.Errorf("%d pictures, the cut one %v with %d operations", n, drawn, p.operations())
	}
	empty := write(history.Header{Nodes: 1, Clients: 1}, history.Event{Kind: history.End, Reason: "stopped: at once"})
	if p := empty.draw(t)[counterexample.Cut]; !strings.Contains(p.text, "There is nothing in it that porcupine could order.") {
		t.Error("the picture of nothing says something else")
	}
}

// marks returns the texts of the marks in a row, and the other data of them.
func (p page) marks(row string) (texts []string) {
	for _, a := range p.data.Annotations {
		if _, name, _ := strings.Cut(a.Tag, " "); name == row {
			texts = append(texts, a.Description)
		}
	}
	return texts
}

// red returns the texts of the marks in a row that have the colour of a violation.
func (p page) red(row string) (texts []string) {
	for _, a := range p.data.Annotations {
		if _, name, _ := strings.Cut(a.Tag, " "); name == row && a.BackgroundColor == p.data.Annotations[p.facts.Look].BackgroundColor {
			texts = append(texts, a.Description)
		}
	}
	return texts
}

// has checks the marks in a row.
func (p page) has(t *testing.T, row string, want ...string) {
	t.Helper()
	if got := p.marks(row); !slices.Equal(got, want) {
		t.Errorf("row %q has %q, want %q", row, got, want)
	}
}

// The calls of a finding are drawn, even if their client holds nothing, and whatever others
// called. The page opens at the place.
func TestCallsOfAFindingAreDrawn(t *testing.T) {
	try := func(client int, token string, from history.Time) []history.Event {
		e := history.Event{Client: client, Resource: "cash", Token: token, Time: from, Kind: history.Acquire}
		refused := e
		refused.Time, refused.Kind, refused.Reason = from+ms, history.Refused, "taken"
		return []history.Event{e, refused}
	}
	parts := [][]history.Event{hold(2, "cash", "held", 0, 9*ms), try(1, "early", 20*ms), try(1, "open", 30*ms)[:1], hold(3, "stock", "beside", 30*ms, 50*ms)}
	for i := range 100 {
		parts = append(parts, try(2, fmt.Sprint("other", i), history.Time(31+2*i)*ms))
	}
	h := write(history.Header{Nodes: 1, Clients: 3, Bounds: history.Bounds{Acquire: 50 * time.Millisecond}}, story(parts...)...)
	p := h.draw(t)["contract"]
	p.has(t, "client 1 calls", "acquire early: taken", "acquire open: no return")
	p.has(t, "contract", "C violated: client 1")
	if red := p.red("client 1 calls"); !slices.Equal(red, []string{"acquire open: no return"}) {
		t.Errorf("red: %q", red)
	}
	if look := p.data.Annotations[p.facts.Look]; look.Description != "C violated: client 1" {
		t.Errorf("the page opens on %q", look.Description)
	}
	if strings.Contains(p.text, "beside") {
		t.Error("what is called of another resource is drawn")
	}
}

// For clean-up the key that stayed is drawn.
func TestLeftoverKeyIsDrawn(t *testing.T) {
	key := func(at history.Time, k history.Kind, client int, token string) history.Event {
		return history.Event{Time: at, Kind: k, Node: 1, Client: client, Resource: "r", Token: token}
	}
	h := write(history.Header{Nodes: 1, Clients: 2, Keys: true, Bounds: history.Bounds{Cleanup: 5 * time.Millisecond}}, story(hold(1, "r", "a", 0, 9*ms), hold(2, "r", "b", 50*ms, 52*ms),
		[]history.Event{key(ms, history.KeySet, 1, "a"), key(40*ms, history.KeyGone, 0, "a"), key(51*ms, history.KeySet, 2, "b"), key(53*ms, history.KeyGone, 2, "b")})...)
	p := h.draw(t)["cleanup"]
	p.has(t, "clean-up", "L3 violated: client 1")
	p.has(t, "client 1 calls", "acquire a: granted", "release a: ok")
	if red := p.red("node 1 keeps"); !slices.Equal(red, []string{"key of client 1 (a)"}) {
		t.Errorf("red: %q", red)
	}
}

// Lease and section exclusion share a picture if the overlap is the same, and only then.
func TestOneOverlapIsOnePicture(t *testing.T) {
	first, second := hold(1, "r", "a", 0, 9*ms), hold(2, "r", "b", 2*ms, 5*ms)
	h := write(history.Header{Nodes: 1, Clients: 2}, story(first, second)...)
	pictures := counterexample.Of(h.report)
	if len(pictures) != 1 || pictures[0].Name != "lease" || !slices.Equal(pictures[0].Properties(), []checker.Property{checker.Lease, checker.Section}) {
		t.Fatalf("pictures: %+v", pictures)
	}
	p := h.draw(t)["lease"]
	for _, part := range []string{"V1 lease exclusion and V2 section exclusion: violated", "Where a hold has no section row, its section lasts as long as its lease."} {
		if !strings.Contains(p.text, part) {
			t.Errorf("no %q in the page", part)
		}
	}
	p.has(t, "client 1 lease", `"r" by a until release`)
	p.has(t, "client 1 section")
	p.has(t, "time", "0s", "1ms", "3ms", "5ms", "9ms")

	warned := history.Event{Time: 4 * ms, Kind: history.Expiring, Client: 2, Resource: "r", Token: "b"}
	h = write(history.Header{Nodes: 1, Clients: 2}, story(first, second, []history.Event{warned})...)
	pages := h.draw(t)
	if n := len(counterexample.Of(h.report)); n != 2 {
		t.Fatalf("%d pictures of overlaps that differ", n)
	}
	pages["section"].has(t, "client 2 section", `"r" by b until warned`)
	pages["section"].has(t, "client 2 lease", `"r" by b until release`)
	pages["section"].has(t, "client 1 lease")
}

// For a late extension both windows of its hold are drawn, and what lay in between. Porcupine
// finds no order of them. So it is if until is on the clock of the events' times and the history has no
// lapses, which its header does not say.
func TestInterruptedHoldIsDrawn(t *testing.T) {
	for _, lapses := range []bool{true, false} {
		t.Run(fmt.Sprint("lapses ", lapses), func(t *testing.T) { testInterruptedHold(t, lapses) })
	}
}

func testInterruptedHold(t *testing.T, lapses bool) {
	e := history.Event{Client: 1, Resource: "r", Token: "a"}
	at := func(t history.Time, k history.Kind, until history.Time) history.Event {
		e.Time, e.Kind, e.Until, e.Validity = t, k, int64(until), max(until, t).Sub(t)
		return e
	}
	first := []history.Event{
		at(0, history.Acquire, 0), at(ms, history.Granted, 5*ms), at(5*ms, history.Lapse, 5*ms),
		at(10*ms, history.Extend, 20*ms), at(11*ms, history.Extended, 20*ms), at(20*ms, history.Lapse, 20*ms),
	}
	if !lapses {
		first = slices.DeleteFunc(first, func(e history.Event) bool { return e.Kind == history.Lapse })
	}
	h := write(history.Header{Nodes: 1, Clients: 3}, story(first, hold(2, "r", "b", 6*ms, 8*ms), hold(3, "r", "c", 30*ms, 40*ms))...)
	p := h.draw(t)["lease"]
	p.has(t, "client 1 lease", `"r" by a until validity ends`, `"r" by a until validity ends`)
	p.has(t, "client 2 lease", `"r" by b until release`)
	p.has(t, "client 3 lease", `"r" by c until release`)
	for _, part := range []string{"Porcupine finds no order of these operations", "extend a", "when the hold was over since 5ms"} {
		if !strings.Contains(p.text, part) {
			t.Errorf("no %q in the page", part)
		}
	}
}

// A cut link has a row only if no fault is the same.
func TestLinksCutByAFaultAreNotDrawnTwice(t *testing.T) {
	link := func(at history.Time, k history.Kind) history.Event {
		return history.Event{Time: at, Kind: k, Client: 1, Node: 2}
	}
	fault := func(at history.Time, k history.Kind) history.Event {
		return history.Event{Time: at, Kind: k, Fault: 1, Detail: "node 2 is cut off"}
	}
	for end, rows := range map[history.Time][]string{7 * ms: nil, 6 * ms: {"from node 2"}} {
		h := write(history.Header{Nodes: 2, Clients: 2}, story(hold(1, "r", "a", 0, 9*ms), hold(2, "r", "b", 2*ms, 5*ms), []history.Event{
			fault(ms, history.FaultStart), link(ms, history.LinkDown), link(7*ms, history.LinkUp), fault(end, history.FaultEnd),
		})...)
		p := h.draw(t)["lease"]
		p.has(t, "faults", "node 2 is cut off")
		p.has(t, "client 1 is cut off", rows...)
	}
}

// For a late write the picture shows when the read returned, when the write was called and when
// it arrived.
func TestDelayedWriteIsDrawn(t *testing.T) {
	s, err := scenarios.Find("delayed-write")
	if err != nil {
		t.Fatal(err)
	}
	p := run(t, s).draw(t)["effect"]
	p.has(t, "client 1 accesses", "read: 0", "write of 1: ok")
	p.has(t, "guarded resource", "applies 1 of client 2", "applies 1 of client 1")
	for _, instant := range []string{"2.362ms", "205.7ms", "257.1ms", "280.3ms", "1.7066s"} { // the last beside 1.7071s, when the answer arrived
		if !slices.Contains(p.marks("time"), instant) {
			t.Errorf("%s is not marked: %q", instant, p.marks("time"))
		}
	}
}

// The part of a broken history before the error is drawn. A history that cannot be read at all
// is an error.
func TestBrokenHistory(t *testing.T) {
	h := write(history.Header{Nodes: 1, Clients: 2}, story(hold(1, "r", "a", 0, 9*ms), hold(2, "r", "b", 2*ms, 5*ms))...)
	lines := strings.SplitAfter(h.text, "\n")
	h.text = strings.Join(lines[:len(lines)-3], "") + "garbage\n"
	if p := h.draw(t)["lease"]; !strings.Contains(p.text, "The history cannot be read further: line") {
		t.Error("the page does not say that the history cannot be read further")
	}
	h.text = "garbage"
	if _, err := counterexample.Of(h.report)[0].Page(h.open); err == nil {
		t.Error("garbage was drawn")
	}
}
