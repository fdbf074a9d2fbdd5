package sweep

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/shard"
)

// OutcomesFile is the name of a measurement's file in its directory: its head, and a line for each outcome,
// in the order of the units.
const OutcomesFile = "outcomes.jsonl"

// Load reads the outcomes in a directory. There may be fewer than the sweep has units.
func Load(dir string) (Results, error) {
	path := filepath.Join(dir, OutcomesFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Results{}, fmt.Errorf("%s has no %s: it is not the directory of a sweep", dir, OutcomesFile)
	}
	if err != nil {
		return Results{}, err
	}
	h, outcomes, err := parse(text)
	if err != nil {
		return Results{}, fmt.Errorf("%s: %w", path, err)
	}
	return Results{h, outcomes}, nil
}

// parse reads a head and the outcomes of its units, in their order.
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
	if err := files.Strictly(first, &h); err != nil {
		return h, nil, fmt.Errorf("line 1: %w", err)
	}
	units := h.units()
	for line := range bytes.Lines(rest) {
		number := len(outcomes) + 2
		var o Outcome
		err := files.Strictly(line, &o)
		switch {
		case err != nil:
		case len(outcomes) == len(units):
			err = fmt.Errorf("one outcome more than the %d that the sweep is about", len(units))
		case o.Unit != units[len(outcomes)]:
			err = fmt.Errorf("unit %d, where %d follows", o.Unit, units[len(outcomes)])
		case (o.Point == nil) == (o.Boundary == nil):
			err = errors.New("want a point or a boundary")
		}
		if err != nil {
			return h, nil, fmt.Errorf("line %d: %w", number, err)
		}
		outcomes = append(outcomes, o)
	}
	return h, outcomes, nil
}

// text returns what Load reads.
func (r Results) text() ([]byte, error) {
	text, err := files.Line(r.Head)
	for _, o := range r.Outcomes {
		line, wrong := files.Line(o)
		text, err = append(text, line...), cmp.Or(err, wrong)
	}
	return text, err
}

// Free returns an error if saving results with this head in a directory would overwrite files of somebody
// else: those of another measurement, or pictures with the names of the sweep's.
func (h Head) Free(dir string) error {
	path := filepath.Join(dir, OutcomesFile)
	text, err := os.ReadFile(path)
	if err == nil {
		head, err := files.Line(h)
		first, _, _ := bytes.Cut(text, []byte("\n"))
		if differ := shard.Differences(first, head); err == nil && len(differ) > 0 {
			err = fmt.Errorf("%s: it is of another sweep: %s", path, strings.Join(differ, "; "))
		}
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range there {
		name := f.Name()
		picture := strings.HasPrefix(name, h.Sweep) && slices.Contains([]string{".svg", ".png"}, filepath.Ext(name))
		if picture || slices.Contains(resultFiles, name) {
			return fmt.Errorf("%s has %s and no %s: that is not ours to write over", dir, name, OutcomesFile)
		}
	}
	return err
}

// SaveOutcomes writes the outcomes that are there: see [Load].
func (r Results) SaveOutcomes(dir string) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	return files.WriteWhole(filepath.Join(dir, OutcomesFile), text)
}
