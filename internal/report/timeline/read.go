package timeline

import (
	"errors"
	"io"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/follow"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Run is what is known of a run.
type Run struct {
	// Open opens the history, plain, from its begin. It is read twice.
	Open func() (io.ReadCloser, error)

	// Report is what the judges have found in it.
	Report checker.Report

	// Scenario is what was run, with the plan that was carried out. Nil: nobody knows, and
	// no clocks are shown.
	Scenario *scenarios.Scenario
}

// Read makes the model of a run. A history that cannot be read to its end is shown as far
// as it can, and the model says so; one without a header is an error.
func Read(run Run) (Model, error) {
	shown, err := run.survey()
	if err != nil {
		return Model{}, err
	}
	var r *reading
	if err := run.each(func(h history.Header) { r = newReading(run, h, shown) }, func(e *history.Event) bool { return r.record(e) }); err != nil && r == nil {
		return Model{}, err
	}
	r.finish()
	return r.model(), nil
}

// each reads the history, until an event is not wanted any more.
func (run Run) each(begin func(history.Header), do func(*history.Event) bool) error {
	file, err := run.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r, err := history.NewReader(file)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	begin(r.Header())
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !do(e) {
			return nil
		}
	}
}

// reading gathers what is shown of a history as it is read.
type reading struct {
	run    Run
	header history.Header
	shown  excerpt
	count  int          // of events, up to now
	now    history.Time // of the last

	panel    *checker.Checker
	follower *follow.Follower
	clocks   *clocks // nil: none are shown

	rows             rows
	leases, sections []checker.Window
	waits            []checker.Wait
	outages          []checker.Outage
	shades           []shade
	whom             map[int]*whom // by fault: who was hit, as events tell
	latencies        []Sample
	leaderless       history.Time // since when the store has no leader; -1: it has one
	dead             map[int]bool // clients
	resource         string       // that was locked last
	several          bool         // others were, too
}

func newReading(run Run, h history.Header, shown excerpt) *reading {
	r := &reading{
		run: run, header: h, shown: shown, rows: rows{}, whom: map[int]*whom{},
		leaderless: -1, dead: map[int]bool{},
	}
	r.panel = checker.New(h, checker.Lease, checker.Section)
	r.panel.Windows(checker.Lease, func(w checker.Window) { r.window(&r.leases, w) })
	r.panel.Windows(checker.Section, func(w checker.Window) { r.window(&r.sections, w) })
	r.panel.Demand(r.wait, r.outage)
	r.follower = follow.New(r.course)
	if run.Scenario != nil {
		r.clocks = newClocks(run.Scenario, h)
	}
	return r
}

// record takes the next event, and reports whether more are wanted.
func (r *reading) record(e *history.Event) bool {
	if r.count == r.shown.last {
		return false
	}
	r.count++
	r.now = e.Time
	if r.count == r.shown.first {
		r.shown.from = e.Time
	}
	r.panel.Record(e)
	switch e.Kind {
	case history.Step:
		r.reply(e)
		return true
	case history.End:
		return true
	case history.FaultStart, history.FaultEnd:
		if r.clocks != nil {
			r.clocks.fault(e)
		}
	case history.Acquire:
		r.several = r.several || r.resource != "" && r.resource != e.Resource
		r.resource = e.Resource
	}
	r.hit(e)
	r.follower.Observe(e)
	return true
}

func (r *reading) finish() {
	r.shown.to = r.now
	r.panel.Finish()
	r.follower.Finish(r.now)
	if r.leaderless >= 0 {
		r.rows.add(lane{Store, 0}, Span{From: r.leaderless, To: r.now, State: Down, Text: "no leader", Open: true}, owner{})
	}
	if r.clocks != nil {
		r.clocks.finish(r.now)
	}
}

// shows reports whether something of a time is shown.
func (r *reading) shows(to history.Time) bool { return r.count >= r.shown.first && to >= r.shown.from }

func (r *reading) window(of *[]checker.Window, w checker.Window) {
	if r.shows(w.To) {
		*of = append(*of, w)
	}
}

func (r *reading) wait(w checker.Wait) {
	if r.shows(w.To) {
		r.waits = append(r.waits, w)
	}
}

func (r *reading) outage(o checker.Outage) {
	if r.shows(o.To) && o.To > o.From {
		r.outages = append(r.outages, o)
	}
}
