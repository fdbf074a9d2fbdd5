package cli

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/lockstorm/lockstorm/checker"
)

// runTable prints a line of CSV for each run.
type runTable struct{ w *csv.Writer }

// newRunTable prints the head: the verdicts by property, and the measurements by their JSON names,
// with durations in nanoseconds.
func newRunTable(out io.Writer) runTable {
	t := runTable{csv.NewWriter(out)}
	head := []string{"scenario", "backend", "seed"}
	for _, p := range checker.Properties() {
		head = append(head, p.String())
	}
	head = append(head, "as_expected", "cut", "slip", "slipped")
	for _, f := range checker.NamedFigures() {
		head = append(head, f.Name)
	}
	t.write(append(head, "trace_hash", "dir", "replay", "lockstorm"))
	return t
}

// add prints a run. Measurements are empty if nothing was measured.
func (t runTable) add(l jsonLine) {
	line := []string{l.Scenario, l.Backend, strconv.FormatUint(l.Seed, 10)}
	for _, p := range checker.Properties() {
		line = append(line, l.Verdicts[p].String())
	}
	line = append(line, strconv.FormatBool(l.AsExpected), l.Cut, strconv.FormatInt(int64(l.Slip), 10), strconv.FormatBool(l.Slipped))
	for _, f := range checker.NamedFigures() {
		cell := ""
		if l.Measurements != nil {
			cell = strconv.FormatFloat(f.Of(*l.Measurements), 'f', -1, 64)
		}
		line = append(line, cell)
	}
	t.write(append(line, l.TraceHash, l.Dir, l.Replay, thisProgram()))
}

// write prints a line at once: a run may take minutes. The output keeps an error.
func (t runTable) write(line []string) {
	_ = t.w.Write(line)
	t.w.Flush()
}
