//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// result is what a run came to: a line of the file in which they are kept.
type result struct {
	Package string    `json:"package"`
	Stress  string    `json:"stress"`
	Hash    string    `json:"hash"` // of the binary and the package's testdata
	Seed    int64     `json:"seed"` // of -test.shuffle
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	Passed  int       `json:"passed"` // top-level tests
	Skipped int       `json:"skipped,omitempty"`
	Ended   string    `json:"ended,omitempty"`  // how the binary ended; "": all passed
	Failed  []string  `json:"failed,omitempty"` // tests and subtests
	Output  string    `json:"output,omitempty"` // the file that has what they printed
}

// store keeps results in a file, a line each, so that what was stopped can go on.
type store struct {
	file *os.File
	all  []result
}

// openStore reads the results that are kept. A last line that was cut off is removed: its
// run is made again.
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

// add keeps a result.
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

// of returns the results of a job: those of the same tests under the same stress.
func (s *store) of(j job) (list []result) {
	for _, r := range s.all {
		if r.Package == j.tested.name && r.Stress == j.stress.name && r.Hash == j.hash {
			list = append(list, r)
		}
	}
	return list
}

// lasted returns how long the package took under the stress last, whatever its tests were
// then; 0: not known.
func (s *store) lasted(j job) (d time.Duration) {
	for _, r := range s.all {
		if r.Package == j.tested.name && r.Stress == j.stress.name {
			d = time.Duration(r.Seconds * float64(time.Second))
		}
	}
	return d
}
