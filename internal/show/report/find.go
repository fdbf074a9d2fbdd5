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

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// loader loads results from directories and files.
type loader struct {
	o        Options
	debates  []Side
	compared []compared
	sweeps   []sweep.Results
	runs     []runpage.Shown
	cases    []SavedCase
	advice   []storedAdvice
	cut      []string // directories of runs that were killed, beside others
}

// compared is a stored comparison.
type compared struct {
	Comparison
	versions map[string]string
}

// storedAdvice is an advice and the directory that also has its scenarios.
type storedAdvice struct {
	tune.Advice
	dir string
}

// resultKind is a kind of result that a directory can hold.
type resultKind struct {
	file string // the file that identifies it
	load func(h *loader, dir string) error
}

// resultKinds are all kinds but cases, whose files have any name. A directory may hold several.
var resultKinds = []resultKind{
	{results.RunFile, func(h *loader, dir string) error {
		s, err := runpage.Load(dir)
		h.runs = append(h.runs, s)
		return err
	}},
	{results.DebateFile, (*loader).debate},
	{results.CompareFile, (*loader).comparison},
	{sweep.OutcomesFile, func(h *loader, dir string) error {
		found, err := sweep.Load(dir)
		h.sweeps = append(h.sweeps, found)
		return err
	}},
	{tune.AdviceFile, (*loader).adviceIn},
}

// Of makes a page of all results under some paths: directories of results, or of such
// directories, and files of histories, cases and advice. An error names the path that is none of these,
// or is incomplete.
func Of(ctx context.Context, names []string, o Options) (*Report, error) {
	r := New(TitleOf(names), o)
	return r, r.Find(ctx, names)
}

// Find adds all results under some paths, see [Of].
func (r *Report) Find(ctx context.Context, names []string) error {
	h := loader{o: r.options}
	for _, name := range names {
		if err := h.load(name); err != nil {
			return err
		}
	}
	return h.addTo(ctx, r)
}

// load loads a file or a directory.
func (h *loader) load(name string) error {
	info, err := files.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return h.loadDirectory(name)
	case filepath.Base(name) == tune.AdviceFile:
		return h.adviceIn(filepath.Dir(name))
	case filepath.Ext(name) == cases.Extension:
		k, err := LoadCase(name)
		h.cases = append(h.cases, k)
		return err
	}
	s, err := LoadHistory(name)
	h.runs = append(h.runs, s)
	return err
}

// loadDirectory loads the results in a directory and in its subdirectories, one level deep.
func (h *loader) loadDirectory(dir string) error {
	found, err := h.loadHere(dir)
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
		some, err := h.loadHere(path)
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
		return fmt.Errorf("%s has a history and no %s: the run was cut off (lockstorm check checks its history)", dir, results.RunFile)
	}
	return h.caseFiles(dir)
}

// loadHere loads the results in the directory itself.
func (h *loader) loadHere(dir string) (found bool, err error) {
	for _, k := range resultKinds {
		_, err := os.Stat(filepath.Join(dir, k.file))
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

// cutOff reports whether a directory has the history of a run that did not finish.
func cutOff(dir string) bool {
	_, err := results.HistoryPath(dir)
	return err == nil
}

// caseFiles loads the cases in a directory. Each file with their extension has to be one.
func (h *loader) caseFiles(dir string) error {
	paths, err := filepath.Glob(filepath.Join(globEscaper.Replace(dir), "*"+cases.Extension))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		var marks []string
		for _, k := range resultKinds {
			marks = append(marks, k.file)
		}
		return fmt.Errorf("%s: no results: no %s, no case (*%s), and no directory with any of them", dir, strings.Join(marks, ", "), cases.Extension)
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

// globEscaper escapes a path for [filepath.Glob].
var globEscaper = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// debate loads a stored debate.
func (h *loader) debate(dir string) error {
	stored, found, err := loadSuite(dir, results.DebateFile)
	if err != nil {
		return err
	}
	b, err := h.o.Backend(stored.Backend)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	h.debates = append(h.debates, Side{Backend: b, Found: found, First: FirstSeeds(stored), Versions: stored.Versions})
	if err := duplicateBackend(h.debates); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// comparison loads a stored comparison.
func (h *loader) comparison(dir string) error {
	stored, found, err := loadSuite(dir, results.CompareFile)
	if err != nil {
		return err
	}
	h.compared = append(h.compared, compared{Comparison{Locks: scenarios.Contenders(), Trials: scenarios.Trials(), Found: found}, stored.Versions})
	return nil
}

// adviceIn loads a stored advice.
func (h *loader) adviceIn(dir string) error {
	a, err := tune.Load(filepath.Join(dir, tune.AdviceFile))
	h.advice = append(h.advice, storedAdvice{a, dir})
	return err
}

// loadSuite loads the results of scenarios.
func loadSuite(dir, file string) (results.Reference, Tallies, error) {
	stored, err := results.LoadReference(dir, file)
	if err != nil {
		return stored, nil, err
	}
	found, err := TalliesOf(stored)
	if err != nil {
		return stored, nil, fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
	}
	return stored, found, nil
}

// addTo adds all results to a page, kind by kind.
func (h *loader) addTo(ctx context.Context, r *Report) error {
	if len(h.debates) > 0 {
		if err := r.Debate(ctx, Debate{Topics: scenarios.Topics(), Sides: h.debates, StoredRun: h.storedRun}); err != nil {
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
	for _, c := range h.sweeps {
		if err := r.Campaign(c); err != nil {
			return err
		}
	}
	for _, a := range h.advice {
		if err := r.Advice(a.Advice, a.dir); err != nil {
			return err
		}
	}
	return nil
}

// storedRun finds a run of a debate among the loaded runs.
func (h *loader) storedRun(scenario, backend string, seed uint64) string {
	i := slices.IndexFunc(h.runs, func(s runpage.Shown) bool {
		return s.Dir != "" && s.Run.Scenario.Name == scenario && s.Run.Backend == backend && s.Run.Seed == seed
	})
	if i < 0 {
		return ""
	}
	return h.runs[i].Dir
}
