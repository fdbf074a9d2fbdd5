package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// row is a line of the table.
type row struct {
	mark      byte
	at        string
	who, what string
}

// The marks at the start of a line.
const (
	plainMark   = ' '
	findingMark = '|' // the judge's finding is about this time
	overlapMark = '!' // the windows of two holders overlap
)

// Print prints the run line by line and marks the time of the finding. The windows are
// those of the property of the finding if it has windows, or else of lease exclusion.
func (t *Trace) Print(to io.Writer, f checker.Finding) error {
	of := checker.Lease
	if f.Property == checker.Section {
		of = checker.Section
	}
	rows := t.rows(of, f)
	whoWide, atWide := len("WHO"), len("MS")
	for _, r := range rows {
		whoWide, atWide = max(whoWide, utf8.RuneCountInString(r.who)), max(atWide, len(r.at))
	}
	var b strings.Builder
	for _, l := range t.legend(of) {
		b.WriteString(l + "\n")
	}
	for _, r := range append([]row{{plainMark, "MS", "WHO", "WHAT"}}, rows...) {
		line := fmt.Sprintf("%c %*s  %-*s  %s", r.mark, atWide, r.at, whoWide, r.who, r.what)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if t.dropped > 0 {
		fmt.Fprintf(&b, "%s more came after that, for which a trace of %d has no room.\n", textfmt.Count(t.dropped, "step"), MaxRecords)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func (t *Trace) legend(of checker.Property) []string {
	h := t.header
	return []string{
		fmt.Sprintf("%s: %s, %s, %s, seed %d.", h.Scenario, h.Lock, textfmt.Count(h.Clients, "client"), textfmt.Count(h.Nodes, "node"), h.Seed),
		"Times are in ms since the start of the run. → asks, ← takes an answer.",
		fmt.Sprintf("Windows are those of %s; ! where two overlap, | where else the judge points to.", of.Title()),
		"",
	}
}

// rows returns the lines with a text, and those about overlaps.
func (t *Trace) rows(of checker.Property, f checker.Finding) (rows []row) {
	windows := windowsOf(t.Past(), of)
	overlaps := windows.overlaps()
	for _, l := range t.lines(windows) {
		if l.What != "" {
			rows = append(rows, row{mark(l.At, overlaps, f), inMs(l.At), l.Who.String(), l.What})
		}
		for _, o := range overlaps {
			if o.shows(l) {
				rows = append(rows, row{overlapMark, inMs(l.At), "judge", o.words(of.Title())})
			}
		}
	}
	return rows
}

// mark returns the mark of an instant.
func mark(at history.Time, overlaps []overlap, f checker.Finding) byte {
	if slices.ContainsFunc(overlaps, func(o overlap) bool { return at >= o.from && at <= o.to }) {
		return overlapMark
	}
	if p := f.Where; p != nil && f.Verdict == checker.Violated && at >= p.From && at <= p.To {
		return findingMark
	}
	return plainMark
}

// shows reports whether the line is the event that causes the overlap.
func (o overlap) shows(l Line) bool {
	h, is := l.Entry.(Happened)
	came, at := o.second, o.from
	if o.late {
		came, at = o.first, o.first.From
	}
	return is && h.Time == at && h.Token == came.Grant.Token && (h.Kind == history.Granted || h.Kind == history.Extended)
}

// Line is one entry with its description.
type Line struct {
	At    history.Time
	Entry Entry
	Event int // number of the event in the history, from 1; 0: the entry is none
	Who   Participant
	What  string // empty: it is not worth a line
}

// Lines describes all entries in order, with the lease windows of the past.
func (t *Trace) Lines(past timeline.Past) []Line { return t.lines(windowsOf(past, checker.Lease)) }

func (t *Trace) lines(w windows) []Line {
	list := t.sorted()
	tell := describer{
		header: t.header, rounds: map[int]*round{}, requests: map[int]env.StoreRequest{},
		windows: w, several: several(list),
	}
	lines := make([]Line, len(list))
	for i, r := range list {
		tell.strikes = i+1 < len(list) && strikes(list[i+1])
		who, what := r.what.tell(&tell)
		lines[i] = Line{r.at, r.what, r.event, who, what}
	}
	return lines
}

// several reports whether more than one resource is locked.
func several(list []record) bool {
	first := ""
	for _, r := range list {
		h, is := r.what.(Happened)
		switch {
		case !is || h.Kind != history.Acquire:
		case first == "":
			first = h.Resource
		case first != h.Resource:
			return true
		}
	}
	return false
}

// strikes reports whether the record is of something that happens to a client, at the step
// before it.
func strikes(r record) bool {
	h, is := r.what.(Happened)
	return is && slices.Contains([]history.Kind{history.FaultStart, history.FaultEnd, history.Pause, history.Kill, history.Cancel}, h.Kind)
}
