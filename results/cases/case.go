package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Case is a stored run and what it shows of one property.
type Case struct {
	Property checker.Property `yaml:"property"`

	// Shows is the verdict on the property: violated or holds.
	Shows checker.Verdict `yaml:"shows"`

	// Story is the checker's story when the case was made.
	Story string `yaml:"story,omitempty"`

	// Notes are remarks of a person, or of the command that found it.
	Notes string `yaml:"notes,omitempty"`

	Seed   uint64        `yaml:"-"`
	Course runner.Course `yaml:"-"`

	// Trace is the upper half of the run's trace hash.
	Trace uint32 `yaml:"-"`

	// Scenario has a plan, no generator and no expectations: the expected verdict is Shows.
	Scenario scenarios.Scenario `yaml:"scenario"`
}

// New returns a case of what a run has shown of a property.
func New(r runner.Result, p checker.Property) Case {
	s := r.Executed()
	s.Expect, s.Limits = nil, scenarios.Limits{}
	f := r.Report.Finding(p)
	return Case{
		Property: p,
		Shows:    f.Verdict,
		Story:    f.Story(),
		Seed:     r.Seed,
		Course:   r.Course,
		Trace:    r.Replay().Trace,
		Scenario: s,
	}
}

// Replay returns the identity of the run. Its scenario is that of the case, not the one of
// that name in the debate.
func (c Case) Replay() runner.Replay {
	return runner.Replay{Scenario: c.Scenario.Name, Seed: c.Seed, Course: c.Course, Trace: c.Trace}
}

// Run repeats the run. The history is also recorded in keep, unless that is nil.
func (c Case) Run(ctx context.Context, b runner.Backend, keep history.Sink) (runner.Result, error) {
	e, err := runner.Prepare(b, c.Scenario)
	if err != nil {
		return runner.Result{}, err
	}
	return e.WithCourse(c.Course).Run(ctx, c.Seed, keep)
}

// Simulate runs the case in the simulator, and returns what the checker reports.
func (c Case) Simulate(ctx context.Context) (checker.Report, error) {
	r, err := c.Run(ctx, simulated.Backend(), nil)
	return r.Report, err
}

// Judge compares a run with the case: the verdict is as expected, contradicts it, or is
// unknown. The traces may differ, since the program may have changed.
func (c Case) Judge(r runner.Result) runner.Conclusion {
	switch v := r.Report.Finding(c.Property).Verdict; {
	case v == c.Shows:
		return runner.AsExpected
	case v == checker.Unknown || r.Interrupted:
		return runner.Undecided
	}
	return runner.Contradiction
}

// Extension is the extension of a case's file.
const Extension = ".yaml"

// mostKinds is how many kinds of faults a file name lists.
const mostKinds = 3

// Save writes the case to a new file in dir, which it creates if necessary, and returns its
// path. The name has the lock, the property and the faults, with a number if another case has
// that name. An equal case is not stored twice. The file is created atomically.
func Save(dir string, c Case) (path string, err error) {
	var text bytes.Buffer
	if err := c.Write(&text); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	part, err := os.CreateTemp(dir, ".case-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	_, err = part.Write(text.Bytes())
	if err = errors.Join(err, part.Chmod(0o644), part.Close()); err != nil {
		return "", err
	}
	return link(part.Name(), filepath.Join(dir, c.name()), text.Bytes())
}

// link renames part to the first of path, path-2, path-3, … that is free, or returns that of a
// file with the same text. Unlike a rename, os.Link fails if the file exists.
func link(part, path string, text []byte) (string, error) {
	for free, n := path+Extension, 2; ; n++ {
		err := os.Link(part, free)
		if !errors.Is(err, fs.ErrExist) {
			return free, err
		}
		if there, err := os.ReadFile(free); err == nil && bytes.Equal(there, text) {
			return free, nil
		}
		free = fmt.Sprintf("%s-%d%s", path, n, Extension)
	}
}

// name returns the name of the case's file, as in "redlock-lease-crash-partition".
func (c Case) name() string {
	kinds := c.Scenario.Plan.Kinds()
	switch {
	case len(kinds) == 0:
		kinds = []nemesis.Kind{"calm"}
	case len(kinds) > mostKinds:
		kinds = append(kinds[:mostKinds], "more")
	}
	words := []string{c.Scenario.Lock.Kind, c.Property.String()}
	for _, k := range kinds {
		words = append(words, string(k))
	}
	return strings.ReplaceAll(strings.Join(words, "-"), "_", "-")
}
