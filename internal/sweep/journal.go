package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// JournalFile is the name of a measurement's file in its directory.
const JournalFile = "outcomes.jsonl"

// Journal is the file of a running measurement: its head, and a line for each outcome, in the
// order of the units. If the program ended in the middle of a line, that line is removed when
// the journal is next opened, and its unit is measured again.
type Journal struct {
	release  func() error // unlocks the directory
	file     *os.File
	head     Head
	outcomes []Outcome
}

// OpenJournal opens or creates the journal of a measurement in a directory, which it creates if
// necessary. It returns an error, and changes nothing, if the directory has the journal of
// another measurement (the error says how that differs), if it has results but no journal, or if
// another process is writing to it.
func OpenJournal(dir string, h Head) (*Journal, error) {
	release, err := files.Occupy(dir, "another sweep")
	if err != nil {
		return nil, err
	}
	j := &Journal{release: release}
	if err := j.open(dir, h); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Journal) open(dir string, h Head) error {
	head, err := encode(h)
	if err != nil {
		return err
	}
	j.head = h
	path := filepath.Join(dir, JournalFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := unused(dir, h.Sweep); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if len(whole) > 0 {
		was, err := j.resume(whole)
		if err == nil && !maps.Equal(was.Versions, j.head.Versions) {
			whole, err = replaceHead(path, whole, j.head)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	} else if !bytes.HasPrefix(head, text) {
		return fmt.Errorf("%s: it is not the file of a sweep", path)
	}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	if err := j.file.Truncate(int64(len(whole))); err != nil {
		return err
	}
	if _, err := j.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	if len(whole) == 0 {
		return j.write(head)
	}
	return nil
}

// resume reads the journal of the same measurement and returns its head. The head of the continued
// journal names the program that began it, too.
func (j *Journal) resume(text []byte) (was Head, err error) {
	if was, j.outcomes, err = parse(text); err != nil {
		return was, err
	}
	if d := was.differences(j.head); len(d) > 0 {
		return was, fmt.Errorf("it is another sweep: %s", strings.Join(d, "; "))
	}
	if len(j.outcomes) == was.Units() { // nothing is left for this program
		j.head.Versions = was.Versions
	} else {
		j.head.Versions = runner.WithProgramsOf(was.Versions, j.head.Versions)
	}
	return was, nil
}

// replaceHead writes a journal with another head and returns its text.
func replaceHead(path string, text []byte, h Head) ([]byte, error) {
	head, err := encode(h)
	if err != nil {
		return nil, err
	}
	_, outcomes, _ := bytes.Cut(text, []byte("\n"))
	text = slices.Concat(head, outcomes)
	return text, files.WriteWhole(path, text)
}

// unused returns an error if the measurement would overwrite files of somebody else: results, or
// pictures with the names of the sweep's.
func unused(dir, sweep string) error {
	there, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range there {
		name := f.Name()
		picture := strings.HasPrefix(name, sweep) && slices.Contains([]string{".svg", ".png"}, filepath.Ext(name))
		if picture || slices.Contains(resultFiles, name) {
			return fmt.Errorf("%s has %s and no %s: that is not ours to write over", dir, name, JournalFile)
		}
	}
	return nil
}

// Head returns the head in the file.
func (j *Journal) Head() Head { return j.head }

// Outcomes returns the stored outcomes, in the order of the units.
func (j *Journal) Outcomes() []Outcome { return j.outcomes }

// Add writes the outcome of the next unit to disk.
func (j *Journal) Add(o Outcome) error {
	line, err := encode(o)
	if err == nil {
		err = j.write(line)
	}
	if err == nil {
		j.outcomes = append(j.outcomes, o)
	}
	return err
}

func (j *Journal) write(line []byte) error {
	if _, err := j.file.Write(line); err != nil {
		return err
	}
	return j.file.Sync()
}

// Close closes the file and unlocks the directory.
func (j *Journal) Close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.release())
}

// ReadJournal reads the journal in a directory, except an incomplete last line.
func ReadJournal(dir string) (Results, error) {
	path := filepath.Join(dir, JournalFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Results{}, fmt.Errorf("%s has no %s: it is not the directory of a sweep", dir, JournalFile)
	}
	if err != nil {
		return Results{}, err
	}
	h, outcomes, err := parse(text[:bytes.LastIndexByte(text, '\n')+1])
	if err != nil {
		return Results{}, fmt.Errorf("%s: %w", path, err)
	}
	return Results{h, outcomes}, nil
}

// parse reads complete lines: a head and the outcomes of its units, in their order.
func parse(text []byte) (h Head, outcomes []Outcome, err error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	var kind struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal(first, &kind); err != nil || kind.Format != Format {
		return h, nil, errors.New("it is not the file of a sweep")
	}
	if kind.Version != Version {
		return h, nil, fmt.Errorf("it has version %d; this program reads version %d", kind.Version, Version)
	}
	if err := decode(first, &h); err != nil {
		return h, nil, fmt.Errorf("line 1: %w", err)
	}
	units := h.units()
	for line := range bytes.Lines(rest) {
		number := len(outcomes) + 2
		var o Outcome
		err := decode(line, &o)
		switch {
		case err != nil:
		case len(outcomes) == len(units):
			err = fmt.Errorf("one outcome more than the %d that the sweep is about", len(units))
		case o.Unit != units[len(outcomes)]:
			err = fmt.Errorf("unit %d, where %d follows", o.Unit, units[len(outcomes)])
		default:
			err = o.validate(h)
		}
		if err != nil {
			return h, nil, fmt.Errorf("line %d: %w", number, err)
		}
		outcomes = append(outcomes, o)
	}
	return h, outcomes, nil
}

// encode returns a value as one line of JSON, without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

func decode(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
