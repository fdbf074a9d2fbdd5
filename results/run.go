package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// The names of the files of a run, and the version of run.json.
const (
	RunFile     = "run.json"
	HistoryFile = "history.jsonl"
	Version     = 1
)

// Run is what run.json holds.
type Run struct {
	Version   int                `json:"version"`
	Scenario  scenarios.Scenario `json:"scenario"` // with its plan
	Backend   string             `json:"backend"`
	Seed      uint64             `json:"seed"`
	Versions  map[string]string  `json:"versions"` // of this program, of Go, of the servers
	Verdicts  checker.Verdicts   `json:"verdicts"`
	Report    checker.Report     `json:"report"`
	TraceHash string             `json:"trace_hash,omitempty"`
	Cut       bool               `json:"interrupted,omitempty"`
}

// Of returns what run.json says of a result.
func Of(r storm.Result, versions map[string]string) Run {
	run := Run{
		Version:  Version,
		Scenario: r.Scenario,
		Backend:  r.Backend,
		Seed:     r.Seed,
		Versions: versions,
		Verdicts: r.Report.Verdicts(),
		Report:   r.Report,
		Cut:      r.Interrupted,
	}
	if r.TraceHash != 0 {
		run.TraceHash = Hash(r.TraceHash)
	}
	return run
}

// Hash prints a trace hash.
func Hash(h uint64) string { return fmt.Sprintf("%016x", h) }

// Dir is the directory of a run that is being written. Until Finish it has a
// name that nobody takes for a run's, and Discard makes it go away.
type Dir struct {
	final   string
	partial string
	file    *os.File
	writer  *history.Writer
}

// Create makes the directory of a run under parent. The history is written
// while the run goes on, to the sink that History returns.
func Create(parent, name string, h history.Header) (*Dir, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	partial, err := os.MkdirTemp(parent, "."+name+".*")
	if err != nil {
		return nil, err
	}
	d := &Dir{final: filepath.Join(parent, name), partial: partial}
	if d.file, err = os.Create(filepath.Join(partial, HistoryFile)); err != nil {
		d.Discard()
		return nil, err
	}
	d.writer = history.NewWriter(d.file, h)
	return d, nil
}

// History returns the sink of the run's events.
func (d *Dir) History() history.Sink { return d.writer }

// Finish writes run.json and gives the directory its name, with a number
// appended if that is taken: no run is written over. It returns the path.
func (d *Dir) Finish(r Run) (string, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(d.partial, RunFile), append(text, '\n'), 0o644)
	}
	err = errors.Join(err, d.writer.Flush(), d.file.Close(), os.Chmod(d.partial, 0o755))
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(d.partial))
	}
	for n := 1; ; n++ {
		path := d.final
		if n > 1 {
			path = fmt.Sprintf("%s.%d", d.final, n)
		}
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		// A rename onto a directory that has appeared meanwhile fails, as that
		// is not empty.
		err := os.Rename(d.partial, path)
		if err == nil || n > 1000 {
			return path, err
		}
	}
}

// Discard removes what was written.
func (d *Dir) Discard() {
	if d.file != nil {
		_ = d.file.Close()
	}
	_ = os.RemoveAll(d.partial)
}

// Load reads the run.json of a directory.
func Load(dir string) (Run, error) {
	path := filepath.Join(dir, RunFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return Run{}, err
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return Run{}, fmt.Errorf("%s: %w", path, err)
	}
	if r.Version != Version {
		return Run{}, fmt.Errorf("%s has version %d; this program reads version %d", path, r.Version, Version)
	}
	return r, nil
}

// Judge judges a stored history anew. Errors name the file, and the line where
// they can.
func Judge(path string) (history.Header, checker.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return history.Header{}, checker.Report{}, err
	}
	defer func() { _ = f.Close() }()
	var header history.Header
	var panel *checker.Panel
	err = history.Decode(f, func(h history.Header) (history.Sink, error) {
		header, panel = h, checker.NewPanel(h)
		return panel, nil
	})
	if err != nil {
		return header, checker.Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return header, panel.Finish(), nil
}
