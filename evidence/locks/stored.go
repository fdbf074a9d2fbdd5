package locks

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Stored is what was seen of some locks, as it is stored.
type Stored struct {
	Go        string            `json:"go"`
	Versions  map[string]string `json:"versions"`          // of libraries, by their paths
	Servers   string            `json:"servers,omitempty"` // with versions
	Results   []Result          `json:"results"`
	Witnesses []StoredWitness   `json:"witnesses"`
}

// Result is what was seen of a lock in a storm.
type Result struct {
	Lock     string          `json:"lock"`
	Series   string          `json:"series"`
	Storm    string          `json:"storm"`
	Summary  string          `json:"summary"` // of the storm
	Runs     int             `json:"runs"`
	Violated map[string]Rate `json:"violated,omitempty"` // by the code of the property
	Holds    []string        `json:"holds,omitempty"`    // codes of properties that no run violated
	Unknown  []string        `json:"unknown,omitempty"`  // codes of properties that no run decided
	Outage   string          `json:"outage,omitempty"`   // median over the runs of the longest outage
}

// Rate is how many runs violated a property, of those that decided it.
type Rate struct {
	Violated int `json:"violated"`
	Decided  int `json:"decided"`
}

// StoredWitness is a stored run that shows a finding.
type StoredWitness struct {
	Finding string         `json:"finding"`
	Lock    string         `json:"lock"`
	Storm   string         `json:"storm"`
	Series  string         `json:"series"`
	Dir     string         `json:"dir"` // relative to this package
	Reruns  int            `json:"reruns"`
	Again   map[string]int `json:"again"` // re-runs that show it, by the code of the property
}

// Store stores the board. Nothing may be missing.
func (b *Board) Store(path string, versions map[string]string) error {
	b.order()
	if err := b.complete(); err != nil {
		return err
	}
	s := Stored{Go: runtime.Version(), Versions: versions}
	if b.Page.Servers != nil {
		s.Servers = b.Page.Servers()
	}
	for _, t := range b.Trials {
		r := Result{Lock: t.Subject.Name, Series: t.Series, Storm: t.Storm.Name, Summary: t.Storm.Summary, Runs: t.Tally.Runs, Violated: map[string]Rate{}}
		for _, p := range judged {
			switch rate := t.Tally.Rate(p); {
			case rate.K > 0:
				r.Violated[p.Code()] = Rate{rate.K, rate.N}
			case rate.N > 0:
				r.Holds = append(r.Holds, p.Code())
			case t.Tally.Observed(p) == checker.Unknown:
				r.Unknown = append(r.Unknown, p.Code())
			}
		}
		if slices.Contains(b.Page.Outages, t.Storm.Name) {
			r.Outage = textfmt.Duration(t.Tally.Measured.All().MedianOutage)
		}
		s.Results = append(s.Results, r)
	}
	for _, w := range b.Witnesses {
		again := map[string]int{}
		for _, p := range w.Shows {
			again[p.Code()] = w.Again.Rate(p).K
		}
		s.Witnesses = append(s.Witnesses, StoredWitness{w.Finding.Name, w.Trial.Subject.Name, w.Trial.Storm.Name, w.Trial.Series, w.Dir, w.Again.Runs, again})
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return files.WriteWhole(path, append(text, '\n'))
}

// Load reads what [Board.Store] has stored.
func Load(path string) (s Stored, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// order puts the trials, which ran side by side, into that of the subjects.
func (b *Board) order() {
	place := func(t *Trial) int {
		return slices.IndexFunc(b.Subjects, func(s Subject) bool { return s.Name == t.Subject.Name })
	}
	slices.SortStableFunc(b.Trials, func(x, y *Trial) int { return place(x) - place(y) })
}

func (b *Board) complete() error {
	for _, s := range b.Subjects {
		for _, series := range s.Series() {
			for _, in := range series.Storms {
				if t := b.trial(s.Name, in.Name); t == nil || t.Decided() == 0 {
					return fmt.Errorf("%s has not been tried in %s, or the machine was too slow: all locks and storms are stored together", s.Name, in.Name)
				}
			}
		}
	}
	return nil
}

// of returns the codes of the properties that are violated here and that a finding is about.
func (r Result) of(f *Finding) (codes []string) {
	for _, p := range judged {
		if known, _ := Known(r.Lock, r.Storm, p); known == f && r.Violated[p.Code()].Violated > 0 {
			codes = append(codes, p.Code())
		}
	}
	return codes
}

// runs returns the number of all runs.
func (s Stored) runs() (n int) {
	for _, r := range s.Results {
		n += r.Runs
	}
	return n
}

// locks returns the names of the locks, in their order.
func (s Stored) locks() (names []string) {
	for _, r := range s.Results {
		if !slices.Contains(names, r.Lock) {
			names = append(names, r.Lock)
		}
	}
	return names
}

// storms returns a result for each storm, in their order.
func (s Stored) storms() (all []Result) {
	seen := map[string]bool{}
	for _, r := range s.Results {
		if !seen[r.Storm] {
			all = append(all, r)
		}
		seen[r.Storm] = true
	}
	return all
}

// result is that of a lock in a storm.
func (s Stored) result(lock, storm string) (Result, bool) {
	for _, r := range s.Results {
		if r.Lock == lock && r.Storm == storm {
			return r, true
		}
	}
	return Result{}, false
}

// byCode lists numbers by the codes of properties, as in "C 98, V2 3".
func byCode(counts map[string]int) string {
	text := ""
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf(", %s %d", code, counts[code])
	}
	return text[min(2, len(text)):]
}
