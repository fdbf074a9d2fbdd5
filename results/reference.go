package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The files of the reference results, and their format and its version.
const (
	DebateFile    = "debate.json"
	CompareFile   = "compare.json"
	PublishedFile = "published.json"

	ReferenceFormat  = "lockstorm-reference"
	ReferenceVersion = 1
)

// Reference is the results of many scenarios, stored so that tables can be printed without a run,
// and so that a run that differs is noticed. It does not contain time or place: the same program
// stores the same bytes.
type Reference struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Backend  string            `json:"backend"`
	Versions map[string]string `json:"versions"` // of what it was made with
	Rows     []Row             `json:"rows"`
}

// Row is the result of one scenario's runs. The scenario itself is found by name.
type Row struct {
	Scenario string `json:"scenario"`
	Runs     int    `json:"runs"`
	First    uint64 `json:"first_seed"` // the others are the numbers after it

	// Seen counts the runs by the verdict of a property. A property that is not listed was not
	// judged when the row was stored.
	Seen map[checker.Property]map[checker.Verdict]int `json:"seen"`

	// Shown, Against and the witness are those of a [runner.Tally].
	Shown   int    `json:"shown"`
	Against int    `json:"against"`
	Witness uint64 `json:"witness,omitempty"`
	Trace   string `json:"trace,omitempty"` // hash of the witness's trace

	// Slipped describes the runs that slipped; nil: none did.
	Slipped *Slipped `json:"slipped,omitempty"`

	// Violations describes the first violation of each violated property.
	Violations []Violation `json:"violations,omitempty"`

	Measured checker.Measurements `json:"measured"` // over all runs, see [runner.Aggregate]
}

// Violation is the number of violations of a property in a row, and the first run with one.
type Violation struct {
	Count   int             `json:"count"` // of violations in all runs
	Seed    uint64          `json:"seed"`
	Trace   string          `json:"trace,omitempty"`
	Finding checker.Finding `json:"finding"` // about the first run
}

// Slipped is the number of runs that slipped, and the delay of the first.
type Slipped struct {
	Runs int           `json:"runs"`
	Seed uint64        `json:"seed"`
	Slip time.Duration `json:"slip"` // ns
}

// RowOf returns the row of a batch that began with a seed.
func RowOf(t runner.Tally, first uint64) Row {
	r := Row{
		Scenario: t.Scenario.Name, Runs: t.Runs, First: first,
		Seen:  map[checker.Property]map[checker.Verdict]int{},
		Shown: t.Shown, Against: t.Against, Witness: t.Witness, Trace: traced(t.WitnessTrace),
		Measured: t.Measured.All(),
	}
	if t.Slipped > 0 {
		r.Slipped = &Slipped{t.Slipped, t.Slipping.Seed, t.Slipping.SchedulingLag}
	}
	for p, counts := range t.Seen {
		r.Seen[p] = map[checker.Verdict]int{}
		for v, n := range counts {
			if n > 0 {
				r.Seen[p][v] = n
			}
		}
	}
	for _, p := range checker.Properties() {
		if first, ok := t.First[p]; ok {
			r.Violations = append(r.Violations, Violation{t.Violations[p], first.Seed, traced(first.TraceHash), first.Report.Finding(p)})
		}
	}
	return r
}

// traced prints the hash of a trace, if there is one.
func traced(hash uint64) string {
	if hash == 0 {
		return ""
	}
	return Hash(hash)
}

// Tally returns the tally of the row, as far as it is stored, with the scenario as it is now.
func (r Row) Tally(s scenarios.Scenario) runner.Tally {
	t := runner.NewTally(s)
	t.Runs, t.Shown, t.Against, t.Witness, t.WitnessTrace = r.Runs, r.Shown, r.Against, r.Witness, hashed(r.Trace)
	measured := r.Runs
	if s := r.Slipped; s != nil {
		t.Slipped, t.Slipping = s.Runs, runner.Result{Scenario: t.Scenario, Seed: s.Seed, SchedulingLag: s.Slip}
		measured -= s.Runs
	}
	t.Measured = runner.StoredAggregate(measured, r.Measured)
	for p, counts := range r.Seen {
		for v, n := range counts {
			t.Seen[p][v] = n
		}
	}
	for _, v := range r.Violations {
		t.Violations[v.Finding.Property] = v.Count
		t.First[v.Finding.Property] = runner.Result{
			Scenario: s, Seed: v.Seed, TraceHash: hashed(v.Trace),
			Report: checker.Report{Findings: []checker.Finding{v.Finding}},
		}
	}
	return t
}

// hashed parses what traced prints.
func hashed(text string) uint64 {
	hash, _ := strconv.ParseUint(text, 16, 64) // 0 if there is none
	return hash
}

// InOrder returns rows in the order of [scenarios.Every], and those of other scenarios behind them. So it
// does not matter in which order they were made.
func InOrder(rows []Row) []Row {
	place := map[string]int{}
	for i, s := range scenarios.Every() {
		place[s.Name] = i - math.MaxInt32 // other scenarios have 0
	}
	return slices.SortedStableFunc(slices.Values(rows), func(a, b Row) int { return cmp.Compare(place[a.Scenario], place[b.Scenario]) })
}

// Save writes the reference into a file of a directory, which it creates if needed: one row per
// line, so that a difference shows the rows that differ.
func (f Reference) Save(dir, file string) error {
	text, err := f.encode()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	return files.WriteWhole(filepath.Join(dir, file), text)
}

// Print writes what Save saves.
func (f Reference) Print(w io.Writer) error {
	text, err := f.encode()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

func (f Reference) encode() ([]byte, error) {
	rows := f.Rows
	f.Format, f.Version, f.Rows = ReferenceFormat, ReferenceVersion, []Row{}
	text, err := files.Line(f)
	end := "]}\n"
	text = bytes.TrimSuffix(text, []byte(end))
	for i, r := range rows {
		line, wrong := files.Line(r)
		if i > 0 {
			text = append(text, ',')
		}
		text, err = append(append(text, '\n'), bytes.TrimSuffix(line, []byte("\n"))...), cmp.Or(err, wrong)
	}
	return append(text, "\n"+end...), err
}

// LoadReference reads what [Reference.Save] has written. It rejects a file of
// another format or version, with unknown fields, or with a scenario that is there twice.
func LoadReference(dir, file string) (Reference, error) {
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return Reference{}, err
	}
	f, err := decodeReference(text)
	if err != nil {
		return Reference{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func decodeReference(text []byte) (Reference, error) {
	var kind struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return Reference{}, err
	}
	if kind.Format != ReferenceFormat {
		return Reference{}, fmt.Errorf("its format is %q; want %q", kind.Format, ReferenceFormat)
	}
	if kind.Version != ReferenceVersion {
		return Reference{}, fmt.Errorf("it has version %d; this program reads version %d", kind.Version, ReferenceVersion)
	}
	var f Reference
	if err := files.Strictly(text, &f); err != nil {
		return Reference{}, err
	}
	seen := map[string]bool{}
	for _, r := range f.Rows {
		if seen[r.Scenario] {
			return Reference{}, fmt.Errorf("%s is there twice", r.Scenario)
		}
		seen[r.Scenario] = true
	}
	return f, nil
}
