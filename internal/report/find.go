package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// haul is what was found in directories, by what it is.
type haul struct {
	o         Options
	debates   []Side
	compared  []compared
	campaigns []sweep.Results
	advices   []tune.Advice
	runs      []Subject
	cases     []Kept
	cut       []string // directories of runs that were cut off, among others that were not
}

// compared is a comparison that was stored.
type compared struct {
	Comparison
	versions map[string]string
}

// kind is one kind of thing that a directory can hold.
type kind struct {
	mark string // the file by which it is known
	load func(h *haul, dir string) error
}

// kinds are all of them but cases, which are files of any name. A directory may hold
// several.
var kinds = []kind{
	{results.RunFile, func(h *haul, dir string) error {
		s, err := LoadRun(dir)
		h.runs = append(h.runs, s)
		return err
	}},
	{results.DebateFile, (*haul).debate},
	{results.CompareFile, (*haul).comparison},
	{sweep.JournalFile, func(h *haul, dir string) error {
		found, err := sweep.ReadJournal(dir)
		h.campaigns = append(h.campaigns, found)
		return err
	}},
	{tune.AdviceFile, func(h *haul, dir string) error {
		a, err := tune.LoadAdvice(dir)
		h.advices = append(h.advices, a)
		return err
	}},
}

// Of makes the page of all that is found under some names: directories of what lockstorm has
// stored, or of several such; histories and cases by themselves. An error names the one that
// is none of these, or is not whole.
func Of(ctx context.Context, names []string, o Options) (*Report, error) {
	r := New(Named(names), o)
	return r, r.Find(ctx, names)
}

// Named names a page by what is on it: the last parts of paths say enough.
func Named(paths []string) string {
	short := make([]string, len(paths))
	for i, p := range paths {
		if whole, err := filepath.Abs(p); err == nil {
			p = whole // "." has a name, too
		}
		short[i] = strings.TrimSuffix(filepath.Base(p), cases.Extension)
	}
	return strings.Join(short, ", ")
}

// Find adds all that is found under some names, see [Of].
func (r *Report) Find(ctx context.Context, names []string) error {
	h := haul{o: r.options}
	for _, name := range names {
		if err := h.find(name); err != nil {
			return err
		}
	}
	return h.into(ctx, r)
}

// find takes in what a name stands for.
func (h *haul) find(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return h.directory(name)
	case filepath.Ext(name) == cases.Extension:
		k, err := LoadCase(name)
		h.cases = append(h.cases, k)
		return err
	}
	s, err := LoadHistory(name)
	h.runs = append(h.runs, s)
	return err
}

// directory takes in what is in a directory, and in those directly below it.
func (h *haul) directory(dir string) error {
	found, err := h.here(dir)
	if err != nil {
		return err
	}
	below, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, one := range below {
		if !one.IsDir() {
			continue
		}
		path := filepath.Join(dir, one.Name())
		some, err := h.here(path)
		if err != nil {
			return err
		}
		if !some && cutOff(path) {
			h.cut = append(h.cut, path)
		}
		found = found || some
	}
	switch {
	case found:
		return nil
	case cutOff(dir):
		return fmt.Errorf("%s has a history and no %s: the run was cut off (lockstorm check judges its history)", dir, results.RunFile)
	}
	return h.caseFiles(dir)
}

// here takes in what the directory itself is of.
func (h *haul) here(dir string) (found bool, err error) {
	for _, k := range kinds {
		_, err := os.Stat(filepath.Join(dir, k.mark))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = k.load(h, dir)
		}
		if err != nil {
			return found, err
		}
		found = true
	}
	return found, nil
}

// cutOff reports whether a directory has the history of a run that has not ended.
func cutOff(dir string) bool {
	_, err := results.HistoryPath(dir)
	return err == nil
}

// caseFiles takes in the cases in a directory, of which each file that may be one has to be.
func (h *haul) caseFiles(dir string) error {
	paths, err := filepath.Glob(filepath.Join(quoted.Replace(dir), "*"+cases.Extension))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		var marks []string
		for _, k := range kinds {
			marks = append(marks, k.mark)
		}
		return fmt.Errorf("%s: nothing that a report is made of: no %s, no case (*%s), and no directory with one of them", dir, strings.Join(marks, ", "), cases.Extension)
	}
	for _, path := range paths {
		k, err := LoadCase(path)
		if err != nil {
			return err
		}
		h.cases = append(h.cases, k)
	}
	return nil
}

// quoted keeps what a pattern would not take as it is.
var quoted = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// debate takes in a stored debate.
func (h *haul) debate(dir string) error {
	stored, found, err := loadSuite(dir, results.DebateFile)
	if err != nil {
		return err
	}
	b, err := h.o.Backend(stored.Backend)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	h.debates = append(h.debates, Side{Backend: b, Found: found, Versions: stored.Versions})
	if err := twice(h.debates); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// comparison takes in a stored comparison.
func (h *haul) comparison(dir string) error {
	stored, found, err := loadSuite(dir, results.CompareFile)
	if err != nil {
		return err
	}
	h.compared = append(h.compared, compared{Comparison{Locks: scenarios.Contenders(), Trials: scenarios.Trials(), Found: found}, stored.Versions})
	return nil
}

// loadSuite loads what scenarios have shown.
func loadSuite(dir, file string) (results.Reference, Tallies, error) {
	stored, err := results.LoadReference(dir, file)
	if err != nil {
		return stored, nil, err
	}
	found, err := Recall(stored)
	if err != nil {
		return stored, nil, fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
	}
	return stored, found, nil
}

// into adds all to a page, in the order of kinds.
func (h *haul) into(ctx context.Context, r *Report) error {
	if len(h.debates) > 0 {
		if err := r.Debate(ctx, Debate{Topics: scenarios.Topics(), Sides: h.debates, Kept: h.kept}); err != nil {
			return err
		}
	}
	for _, c := range h.compared {
		r.Comparison(c.Comparison, c.versions, false)
	}
	if len(h.runs) > 0 {
		if err := r.Runs(h.runs); err != nil {
			return err
		}
	}
	for _, dir := range h.cut {
		r.Add("Cut off: "+filepath.Base(dir), document.Notice{Mark: document.Open, Text: dir + " has a history and no " + results.RunFile + ": the run was cut off."})
	}
	if len(h.cases) > 0 {
		if err := r.Cases(ctx, h.cases); err != nil {
			return err
		}
	}
	for _, c := range h.campaigns {
		if err := r.Campaign(c); err != nil {
			return err
		}
	}
	for _, a := range h.advices {
		if err := r.Advice(a); err != nil {
			return err
		}
	}
	return nil
}

// kept finds a run of a debate among those that were found beside it.
func (h *haul) kept(scenario, backend string, seed uint64) string {
	i := slices.IndexFunc(h.runs, func(s Subject) bool {
		return s.Dir != "" && s.Run.Scenario.Name == scenario && s.Run.Backend == backend && s.Run.Seed == seed
	})
	if i < 0 {
		return ""
	}
	return h.runs[i].Dir
}
