package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/evidence/mutants"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// mutantRuns is how many runs a hunt makes at most, of the lock without a defect, and for one property of a diff.
const (
	mutantRuns  = 50_000
	controlRuns = 1_000_000
	ownRuns     = 20_000
)

// huntedFile has the results of the hunts.
const huntedFile = "evidence/mutants/hunted.json"

// hunted is the hunts of all planted defects.
type hunted struct {
	Made  string     `json:"made"` // with what
	Hunts []hunt     `json:"hunts"`
	Bugs  [][]string `json:"bugs"` // of public locks, as the default test of locktest finds them: the cells of their rows
}

// hunt is the result of hunting one lock.
type hunt struct {
	Number  string           `json:"number,omitempty"` // of the defect; none: the lock without one
	Lock    string           `json:"lock"`
	Found   checker.Property `json:"found,omitempty"`
	Runs    int              `json:"runs"`    // up to the find
	Seconds float64          `json:"seconds"` // of the hunt up to the find
}

// measureMutants plants each defect, and hunts it.
func measureMutants(ctx context.Context, c *checkout) error {
	planted, err := mutants.All()
	if err != nil {
		return err
	}
	var all []mutants.Mutant
	for _, m := range planted {
		if control := (mutants.Mutant{Lock: m.Lock}); !slices.ContainsFunc(all, func(m mutants.Mutant) bool { return m.Number == "" && m.Lock == control.Lock }) {
			all = append(all, control)
		}
	}
	h := hunted{Made: fmt.Sprintf("%s on %d cores", runtime.Version(), runtime.NumCPU())}
	if h.Bugs, err = c.foundBugs(ctx); err != nil {
		return err
	}
	for _, m := range append(all, planted...) {
		if m.Outside != "" {
			h.Hunts = append(h.Hunts, hunt{Number: m.Number, Lock: m.Lock})
			continue
		}
		fmt.Fprintf(os.Stderr, "mutant %s: %s\n", cmp.Or(m.Number, "0, "+m.Lock), m.Title)
		runs := mutantRuns
		if m.Number == "" {
			runs = controlRuns
		}
		trial, err := mutants.Checkout(c.root).Try(ctx, m, runs)
		if err != nil {
			return fmt.Errorf("mutant %s: %w", m.Number, err)
		}
		one := hunt{Number: m.Number, Lock: m.Lock, Runs: trial.Runs, Seconds: trial.Seconds}
		if f, _ := trial.Caught(m); f != nil {
			one.Found, one.Runs, one.Seconds = f.Property, f.Run, f.Seconds
		}
		h.Hunts = append(h.Hunts, one)
	}
	text, err := json.MarshalIndent(h, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(c.path(huntedFile), append(text, '\n'), 0o644)
}

// bugsTest is the test of package locktest that finds bugs of public locks, and says how in attributes.
const bugsTest = "TestPublicBugsAreFound"

func (c *checkout) foundBugs(ctx context.Context) (found [][]string, err error) {
	said, err := c.run(ctx, "go", "test", "-json", "-run", "^"+bugsTest+"$", "./locktest")
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(said) {
		var e struct{ Action, Key, Value string }
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", bugsTest, line, err)
		}
		if e.Action == "attr" && e.Key == "found" {
			found = append(found, strings.Fields(e.Value))
		}
	}
	return found, nil
}

// huntDiffs plants the defect of each diff, and prints the runs to the first violation of each property, in hunts that
// are aimed at it. All diffs are read before the first hunt.
func (c *checkout) huntDiffs(ctx context.Context, out io.Writer, diffs []string) error {
	var all []mutants.Mutant
	for _, name := range diffs {
		if !filepath.IsAbs(name) {
			name = c.path(name)
		}
		m, err := mutants.Load(name)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	for i, m := range all {
		if err := huntEach(ctx, mutants.Checkout(c.root), out, diffs[i], m); err != nil {
			return err
		}
	}
	return nil
}

// huntEach hunts each property of a mutant.
func huntEach(ctx context.Context, c mutants.Checkout, out io.Writer, name string, m mutants.Mutant) (err error) {
	h, err := c.Plant(ctx, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Remove()) }()
	fmt.Fprintf(out, "%s: %s, up to %s runs for each property\n", name, m.Lock, textfmt.Grouped(ownRuns))
	for _, p := range m.Names {
		r, err := h.Hunt(ctx, mutants.Task{Lock: m.Lock, Runs: ownRuns, Named: []checker.Property{p}, Aimed: true})
		if err != nil {
			return err
		}
		told := fmt.Sprintf("nothing; %s could have shown it", textfmt.Count(r.Tested[p], "run"))
		if f, _ := r.Caught(m); f != nil {
			told = fmt.Sprintf("run %d: %s", f.Run, f.Story)
		}
		fmt.Fprintf(out, "%-3s%-18s%s\n", p.Code(), p.Title(), told)
	}
	return nil
}

func writeMutants(c *checkout) (string, error) {
	h, all, err := c.huntedMutants()
	if err != nil {
		return "", err
	}
	return mutantsPage(h, all), nil
}

// huntedMutants returns the stored hunts, and the mutants of today.
func (c *checkout) huntedMutants() (h hunted, all []mutants.Mutant, err error) {
	if err = c.read(huntedFile, &h); err == nil {
		all, err = mutants.All()
	}
	return h, all, err
}

// mutantsPage makes the page of the hunts.
func mutantsPage(h hunted, all []mutants.Mutant) string {
	p := &text{}
	p.say(`# What the hunt finds

Made by `+"`go -C evidence run . mutants`"+` with %s.

Each row but those of number 0 is a defect of a lock. `+"`go build -overlay`"+` plants it into the lock's source ([the diffs](../../evidence/mutants/planted)). A hunt of at most %s runs generates clients, times, worlds and faults, without knowing the defect. A mutant is caught if a promised property is violated while all assumptions of the promise hold. *should break* lists the properties that are named for it, *found* the violated one: *another* is a property that is not named, and *missed* means that nothing was found in as many runs as the row says, and *outside* that no hunt can find it, and why. *runs* and *seconds* are those until the first violation, on all cores. Number 0 is the lock without a defect: anything found there is a false alarm, or a defect of the lock. The codes are those of the [properties](../../README.md#properties).

- **Up to 100: the catalogue**, written together with the hunts: defects of real lock libraries (1 to 28), and defects that reviewers planted by hand (29 to 38). The hunt was widened for all locks until it caught them, so these rows say that the hunt still catches what it caught before, and not how good it is.
- **From 101: defects that the hunt has not been changed for**, planted from outside after the hunt was finished. How many of these are caught is the measure.

*source* is a public report or repair of such a defect, as issue or pull request on GitHub, if one is known.`, h.Made, textfmt.Grouped(mutantRuns))
	table := &textfmt.Table{Head: []string{"number", "defect", "should break", "found", "runs", "seconds", "source"}}
	var catalogue, unseen [3]int // mutants, caught, by a named property
	for _, one := range h.Hunts {
		found := "nothing"
		if one.Found != "" {
			found = one.Found.Code()
		}
		row := []string{"0", "none: " + one.Lock + " as it is", "–", found, fmt.Sprint(one.Runs), fmt.Sprintf("%.1f", one.Seconds), "–"}
		if i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Number == one.Number }); i >= 0 {
			m := all[i]
			of := &catalogue
			if m.Unseen() {
				of = &unseen
			}
			of[0]++
			switch {
			case m.Outside != "":
				row[3], row[4], row[5] = "outside: "+m.Outside, "–", "–"
			case one.Found == "":
				row[3] = "missed"
			case slices.Contains(m.Names, one.Found):
				of[1]++
				of[2]++
			default:
				of[1]++
				row[3] += " (another)"
			}
			row[0], row[1], row[2], row[6] = m.Number, m.Title, textfmt.Dash(m.Codes()), textfmt.Dash(strings.Join(m.Sources, ", "))
		} else if one.Number != "" {
			continue // a defect that is planted no more
		}
		table.Add(row...)
	}
	p.table(table)
	p.say("Of the catalogue %d of %d are caught, %d by a property that is named. From 101 on %d of %d are caught, %d by a property that is named.", catalogue[1], catalogue[0], catalogue[2], unseen[1], unseen[0], unseen[2])
	p.say(`## What the default test finds in the wild

Each row is a bug of a public lock, rebuilt as a small lock in `+"[publicbugs_test.go](../../locktest/publicbugs_test.go)"+`, which the default test of `+"`locktest`"+` finds without any setting: in which storm, which property is violated first, in which run of the storm, and after how many seconds of virtual time. The storms were extended until they found these bugs, so the rows do not say how many others they find. `+"`go test -v -run %s ./locktest`"+` prints the stories.`, bugsTest)
	bugs := &textfmt.Table{Head: []string{"source", "storm", "violated", "run", "virtual seconds"}}
	for _, row := range h.Bugs {
		bugs.Add(row...)
	}
	p.table(bugs)
	return p.String()
}
