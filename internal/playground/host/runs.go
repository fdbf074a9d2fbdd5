package host

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/packed"
	"github.com/lockstorm/lockstorm/results"
)

// Run is a stored run, as it is listed.
type Run struct {
	Name     string    `json:"name"` // of its directory
	Scenario string    `json:"scenario"`
	Backend  string    `json:"backend"`
	Seed     string    `json:"seed"` // as text, because JavaScript loses digits
	Live     bool      `json:"live"` // it goes on
	Violated []string  `json:"violated"`
	Changed  time.Time `json:"changed"`
}

// mostRuns is how many runs are listed: the last ones.
const mostRuns = 200

// liveFor is how long a history without verdicts may stand still until its run counts as cut off.
const liveFor = 30 * time.Second

// listed returns the runs in a directory, the last changed one first.
func listed(dir string) ([]Run, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []Run
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if _, info, err := historyOf(dir, e.Name()); err == nil {
			found = append(found, Run{Name: e.Name(), Changed: info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b Run) int { return b.Changed.Compare(a.Changed) })
	runs := []Run{}
	for _, r := range found[:min(len(found), mostRuns)] {
		if r.read(dir) {
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// historyOf returns the path of a run's history, relative to the directory of the runs. It returns an error
// unless the files of the run are regular files below that directory, also behind symbolic links: what lies
// elsewhere is not for those who can reach the page.
func historyOf(dir, name string) (path string, info fs.FileInfo, err error) {
	full, err := results.HistoryPath(filepath.Join(dir, name))
	if err != nil {
		return "", nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = root.Close() }()
	if _, err := root.Stat(filepath.Join(name, results.RunFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	path = filepath.Join(name, filepath.Base(full))
	info, err = root.Stat(path)
	return path, info, err
}

// read completes a run from its files, and reports whether they can be read.
func (r *Run) read(dir string) bool {
	r.Violated = []string{}
	run, err := results.Load(filepath.Join(dir, r.Name))
	if err != nil {
		return r.readHistory(dir)
	}
	r.Scenario, r.Backend, r.Seed = run.Scenario.Name, run.Backend, strconv.FormatUint(run.Seed, 10)
	for _, f := range run.Report.Findings {
		if f.Verdict == checker.Violated {
			r.Violated = append(r.Violated, f.Property.Code())
		}
	}
	return true
}

// readHistory reads the header of a run without verdicts: one that goes on, or was cut off.
func (r *Run) readHistory(dir string) bool {
	file, live, err := opened(dir, r.Name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	text, err := packed.Opened(file)
	if err != nil {
		return false
	}
	defer func() { _ = text.Close() }()
	var head history.Header
	line, err := bufio.NewReader(io.LimitReader(text, 1<<20)).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &head) != nil {
		return false
	}
	r.Scenario, r.Backend, r.Seed, r.Live = head.Scenario, head.Backend, strconv.FormatUint(head.Seed, 10), live
	return true
}

// opened opens the history of a run, and reports whether the run goes on.
func opened(dir, name string) (file *os.File, live bool, err error) {
	path, info, err := historyOf(dir, name)
	if err != nil {
		return nil, false, err
	}
	_, done := os.Stat(filepath.Join(dir, name, results.RunFile))
	file, err = os.OpenInRoot(dir, path)
	return file, errors.Is(done, fs.ErrNotExist) && time.Since(info.ModTime()) < liveFor, err
}
