package timelinepage_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
	"github.com/lockstorm/lockstorm/scenarios"
)

// tester is what tests and rapid have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// storedRun is a stored history, and what is known of its run.
type storedRun struct {
	text string
	timelinepage.Run
}

func newStoredRun(text string, report checker.Report, s *scenarios.Scenario) storedRun {
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	return storedRun{text, timelinepage.Run{Open: open, Report: report, Scenario: s}}
}

// write stores a history and checks it.
func write(h history.Header, events ...history.Event) storedRun {
	panel := checker.New(h)
	for i := range events {
		panel.Record(&events[i])
	}
	return newStoredRun(historytest.Text(h, events), panel.Finish(), nil)
}

var simulator = simulated.Backend()

// run runs a scenario once and keeps its history. watch may be nil.
func run(t tester, s scenarios.Scenario, seed uint64, watch runner.Watcher) storedRun {
	t.Helper()
	e, err := runner.Prepare(simulator, s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if watch != nil {
		e = e.Watched(watch)
	}
	var b bytes.Buffer
	w := history.NewWriter(&b, e.Header(seed))
	r, err := e.Run(background, seed, w)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := w.Flush(); err != nil {
		t.Fatalf("%v", err)
	}
	done := r.Executed()
	return newStoredRun(b.String(), r.Report, &done)
}

func read(t tester, h storedRun) timelinepage.Model {
	t.Helper()
	m, err := timelinepage.Read(h.Run)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

func find(t tester, name string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// lane returns the lane of a name in a group, or an empty one.
func lane(m timelinepage.Model, group timelinepage.Group, name string) timelinepage.Lane {
	for _, l := range m.Lanes {
		if l.Group == group && l.Name == name {
			return l
		}
	}
	return timelinepage.Lane{}
}

// spans returns the spans of a state.
func spans(l timelinepage.Lane, state timelinepage.State) (all []timelinepage.Span) {
	for _, s := range l.Spans {
		if s.State == state {
			all = append(all, s)
		}
	}
	return all
}

// events reads the history back.
func (h storedRun) events(t tester) (history.Header, []history.Event) {
	t.Helper()
	r, err := history.NewReader(strings.NewReader(h.text))
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer func() { _ = r.Close() }()
	var all []history.Event
	for {
		e, err := r.Next()
		if err != nil {
			return r.Header(), all
		}
		all = append(all, *e)
	}
}

// text is the model as text.
func text(t testing.TB, m timelinepage.Model) string {
	t.Helper()
	var out strings.Builder
	if err := m.Text(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
