//go:build linux

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// result is the result of a run: a line of the results file.
type result struct {
	Package string    `json:"package"`
	Stress  string    `json:"stress"`
	Hash    string    `json:"hash"` // of the binary and the package's testdata
	Seed    int64     `json:"seed"` // of -test.shuffle
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	Passed  int       `json:"passed"` // top-level tests
	Skipped int       `json:"skipped,omitempty"`
	Ended   string    `json:"ended,omitempty"`  // how the binary failed; empty: all passed
	Failed  []string  `json:"failed,omitempty"` // tests and subtests
	Output  string    `json:"output,omitempty"` // the file with the output
}

// store appends results to a file, one per line, so that a stopped command can be resumed.
type store struct {
	file *os.File
	all  []result
}

// openStore reads the stored results. An incomplete last line is removed, and its run made
// again.
func openStore(name string) (*store, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	s := &store{}
	for n, line := range bytes.Split(text[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
		}
		s.all = append(s.all, r)
	}
	if s.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if err := s.file.Truncate(int64(whole)); err != nil {
		return nil, err
	}
	_, err = s.file.Seek(int64(whole), 0)
	return s, err
}

// add stores a result.
func (s *store) add(r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return err
	}
	s.all = append(s.all, r)
	return nil
}

// of returns the results of a job: of the same tests under the same stress.
func (s *store) of(j job) (list []result) {
	for _, r := range s.all {
		if r.Package == j.testPackage.name && r.Stress == j.stress.name && r.Hash == j.hash {
			list = append(list, r)
		}
	}
	return list
}

// lastDuration returns the last duration of the package under the stress, whatever its tests
// were; 0: unknown.
func (s *store) lastDuration(j job) (d time.Duration) {
	for _, r := range s.all {
		if r.Package == j.testPackage.name && r.Stress == j.stress.name {
			d = time.Duration(r.Seconds * float64(time.Second))
		}
	}
	return d
}

// tally counts the runs of a package under a stress, and the failures of each test.
type tally struct {
	runs, failures int
	tests          map[string]int
}

func count(results []result) tally {
	t := tally{runs: len(results), tests: map[string]int{}}
	for _, r := range results {
		if r.Ended != "" {
			t.failures++
		}
		for _, test := range r.Failed {
			t.tests[test]++
		}
	}
	return t
}

// cell returns the table cell: the number of runs, if all passed.
func (t tally) cell() string {
	switch {
	case t.runs == 0:
		return "–"
	case t.failures == 0:
		return fmt.Sprint(t.runs)
	}
	return "**" + failureRate(t.failures, t.runs) + "**"
}

// failureRate returns the failures with the upper end of Wilson's 95 % interval.
func failureRate(failures, runs int) string {
	return fmt.Sprintf("%d of %d (≤ %.0f %%)", failures, runs, 100*bound(failures, runs))
}

func bound(failures, runs int) float64 {
	_, hi := runner.Rate{K: failures, N: runs}.Wilson()
	return hi
}

// writeTables writes the tables of some jobs: a line for each package, and one for each test
// that failed under a stress.
func writeTables(w io.Writer, jobs []*job, kept *store) {
	head := []string{"package"}
	for _, s := range stresses {
		head = append(head, s.name)
	}
	packages, failures := textfmt.Table{Head: head}, textfmt.Table{Head: []string{"test", "stress", "failed"}}
	tallies := map[string]map[string]tally{}
	for _, j := range jobs {
		if tallies[j.testPackage.name] == nil {
			tallies[j.testPackage.name] = map[string]tally{}
		}
		tallies[j.testPackage.name][j.stress.name] = count(kept.of(*j))
	}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		cells := []string{"`" + name + "`"}
		for _, s := range stresses {
			t := tallies[name][s.name]
			cells = append(cells, t.cell())
			for _, test := range t.worst() {
				failures.Add("`"+name+"` "+test, s.name, failureRate(t.tests[test], t.runs))
			}
		}
		packages.Add(cells...)
	}
	packages.Markdown(w)
	if len(failures.Lines) == 0 {
		_, _ = fmt.Fprintln(w, "\nNo test has failed.")
		return
	}
	_, _ = fmt.Fprintln(w)
	failures.Markdown(w)
}

// worst returns the tests that failed, the most frequent first.
func (t tally) worst() []string {
	return slices.SortedFunc(maps.Keys(t.tests), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.tests[b], t.tests[a]), strings.Compare(a, b))
	})
}

// replaceSection replaces the text between the two marks of a page.
func replaceSection(page, text string) (string, error) {
	const begin, end = "<!-- flake -->\n", "<!-- /flake -->\n"
	before, rest, began := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !began || !ended {
		return "", fmt.Errorf("the page lacks the lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}
