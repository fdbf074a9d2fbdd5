package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// result is what came of a check, or of a part of the time that it took: a line of the file of
// results.
type result struct {
	Key     string       `json:"key"`
	Seconds float64      `json:"seconds"`
	CPU     float64      `json:"cpu"`               // seconds of all cores, of the command and its children
	Stopped bool         `json:"stopped,omitempty"` // before its end
	Found   []comparison `json:"found,omitempty"`
}

// store appends results to a file, so that a stopped command can be continued.
type store struct {
	file *os.File
	all  []result
}

// resultsFile is the name of the file of results.
const resultsFile = "results.jsonl"

// openStore reads the results in a directory. It removes an incomplete last line.
func openStore(dir string) (*store, error) {
	name := filepath.Join(dir, resultsFile)
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	s := &store{}
	for line := range bytes.Lines(whole) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, len(s.all)+1, err)
		}
		s.all = append(s.all, r)
	}
	if s.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	err = s.file.Truncate(int64(len(whole)))
	if err == nil {
		_, err = s.file.Seek(0, 2)
	}
	return s, err
}

// of returns the result of a check that has reached its end, with the seconds of all its parts.
func (s *store) of(key string) (r result, found bool) {
	seconds, cpu := 0.0, 0.0
	for _, one := range s.all {
		if one.Key != key {
			continue
		}
		seconds, cpu = seconds+one.Seconds, cpu+one.CPU
		if !one.Stopped {
			r, found = one, true
		}
	}
	r.Seconds, r.CPU = seconds, cpu
	return r, found
}

func (s *store) add(r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.all = append(s.all, r)
	_, err = s.file.Write(append(line, '\n'))
	return err
}
