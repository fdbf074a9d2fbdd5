package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The names of a run's files, and the version of run.json.
const (
	RunFile     = "run.json"
	HistoryFile = "history.jsonl"
	RunVersion  = 1
)

// Run is the content of run.json.
type Run struct {
	Version   int               `json:"version"`
	Scenario  scenarios.Encoded `json:"scenario"` // with the plan that was carried out
	Backend   string            `json:"backend"`
	Seed      uint64            `json:"seed"`
	Versions  map[string]string `json:"versions"` // of this program, of Go, of the servers
	Verdicts  checker.Verdicts  `json:"verdicts"`
	Report    checker.Report    `json:"report"`
	TraceHash string            `json:"trace_hash,omitempty"`
	Cut       bool              `json:"interrupted,omitempty"`

	// Slip is the largest delay of an event in ns. If it exceeds what the scenario allows, the
	// run decides nothing, whatever its verdicts.
	Slip time.Duration `json:"slip,omitempty"`

	// Judged compares the report with the promises of a lock that is tested (locktest, the command
	// test). nil: nothing is promised.
	Judged *runner.Judged `json:"judged,omitempty"`

	runner.Course // that the run took
}

// RunOf returns the run.json of a result.
func RunOf(r runner.Result, versions map[string]string) Run {
	run := Run{
		Version:  RunVersion,
		Scenario: scenarios.Encoded{Scenario: r.Executed()},
		Backend:  r.Backend,
		Seed:     r.Seed,
		Course:   r.Course,
		Versions: versions,
		Verdicts: r.Report.Verdicts(),
		Report:   r.Report,
		Cut:      r.Interrupted,
		Slip:     r.SchedulingLag,
	}
	if r.TraceHash != 0 {
		run.TraceHash = Hash(r.TraceHash)
	}
	return run
}

// Hash prints a trace hash.
func Hash(h uint64) string { return fmt.Sprintf("%016x", h) }

// Dir is the directory of a run that is being written. run.json is written last: a
// directory without it belongs to a run that was cut short.
type Dir struct {
	path   string
	file   *os.File
	writer *history.Writer
}

// Create makes the directory of a run under parent, with a number appended to
// its name if the name is taken: no run is overwritten.
func Create(parent, name string, h history.Header) (*Dir, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	path, err := mkdirFree(filepath.Join(parent, name))
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path}
	if d.file, err = os.Create(filepath.Join(path, HistoryFile)); err != nil {
		return nil, errors.Join(err, d.Discard())
	}
	d.writer = history.NewWriter(d.file, h)
	return d, nil
}

// mkdirFree makes the first directory of path, path.2, path.3, … that does not
// exist.
func mkdirFree(path string) (string, error) {
	for free, n := path, 2; ; n++ {
		err := os.Mkdir(free, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return free, err
		}
		free = fmt.Sprintf("%s.%d", path, n)
	}
}

// Path returns the path of the directory.
func (d *Dir) Path() string { return d.path }

// History returns the sink of the run's events.
func (d *Dir) History() history.Sink { return d.writer }

// LiveHistory is History for a run in real time: what was recorded is in the file soon, so that others
// can look at the run while it goes on.
func (d *Dir) LiveHistory() history.Sink { return &liveSink{writer: d.writer} }

// flushEvery is how long events may stay in memory while others follow.
const flushEvery = 200 * time.Millisecond

// liveSink flushes the writer with an event, if the last time is long ago.
type liveSink struct {
	writer  *history.Writer
	flushed time.Time
}

// Record implements [history.Sink].
func (l *liveSink) Record(e *history.Event) {
	l.writer.Record(e)
	if now := time.Now(); now.Sub(l.flushed) > flushEvery {
		_ = l.writer.Flush() // which keeps its error
		l.flushed = now
	}
}

// Finish completes the directory with run.json. If that fails, it removes the directory.
func (d *Dir) Finish(r Run) error {
	text, err := json.MarshalIndent(r, "", "  ")
	err = errors.Join(err, d.writer.Flush(), d.file.Close())
	if err == nil {
		err = files.WriteWhole(filepath.Join(d.path, RunFile), append(text, '\n'))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(d.path))
	}
	return nil
}

// Discard removes the files written so far.
func (d *Dir) Discard() error {
	if d.file != nil {
		_ = d.file.Close()
	}
	return os.RemoveAll(d.path)
}

// Load reads the run.json of a directory.
func Load(dir string) (Run, error) {
	path := filepath.Join(dir, RunFile)
	err := regular(path)
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return Run{}, fmt.Errorf("%s: no such directory", dir)
		}
		return Run{}, fmt.Errorf("%s has no %s: it is not the directory of a run, or the run was cut off", dir, RunFile)
	}
	if err != nil {
		return Run{}, err
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return Run{}, fmt.Errorf("%s: %w", path, err)
	}
	if r.Version != RunVersion {
		return Run{}, fmt.Errorf("%s has version %d; this program reads version %d", path, r.Version, RunVersion)
	}
	return r, nil
}

// packings are the extensions of compressed files.
var packings = []string{"", ".gz", ".zst"}

// regular returns an error if a path does not lead to a regular file: to open a named pipe blocks until
// somebody writes to it.
func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	return err
}

// HistoryPath finds the history in the directory of a run, which may be compressed. There must be
// exactly one.
func HistoryPath(dir string) (string, error) {
	var found []string
	for _, packing := range packings {
		err := regular(filepath.Join(dir, HistoryFile+packing))
		if err == nil {
			found = append(found, HistoryFile+packing)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s has no %s, nor a compressed one (.gz, .zst): %w", dir, HistoryFile, fs.ErrNotExist)
	case 1:
		return filepath.Join(dir, found[0]), nil
	}
	return "", fmt.Errorf("%s has %s: which of them is the history of the run?", dir, strings.Join(found, " and "))
}

// Judge judges a stored history while reading it: all properties and measurements, or only the
// named properties. If the history cannot be read to its end, Judge returns an error, naming the
// line if it can, and a report of the part before. A history that contradicts itself is an error
// too ([checker.Contradiction]). A history with too much in progress at a time is read to its end,
// and its verdicts are unknown. When Judge returns, nothing reads from the source.
func Judge(from io.Reader, only ...checker.Property) (history.Header, checker.Report, error) {
	r, err := history.NewReader(from)
	if err != nil {
		return history.Header{}, checker.Report{}, err
	}
	defer func() { _ = r.Close() }()
	panel := checker.New(r.Header(), only...)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header(), panel.Finish(), located(panel.Err())
		}
		if err != nil {
			return r.Header(), panel.Finish(), err
		}
		panel.Record(e)
		if err := located(panel.Err()); err != nil {
			return r.Header(), panel.Finish(), err
		}
	}
}

// located adds the line of the contradictory event; the header is line 1. A history with too much
// in progress at a time is no error: its report says how far it was judged.
func located(err error) error {
	var c *checker.Contradiction
	switch {
	case !errors.As(err, &c):
		return err
	case c.TooMuch:
		return nil
	}
	return &history.LineError{Line: c.Event + 1, Err: c}
}
