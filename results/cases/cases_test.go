package cases_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// crashRestart is a case of the row of that name.
var crashRestart = sync.OnceValue(func() cases.Case {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		panic(err)
	}
	r, err := runner.Run(context.Background(), simulated.Backend(), s, 1, nil)
	if err != nil {
		panic(err)
	}
	return cases.New(r, checker.Lease)
})

func written(t testing.TB, c cases.Case) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Law: a case reads back as it was written, for every scenario of the table and any text.
func TestReadAsWritten(t *testing.T) {
	all := scenarios.All()
	rapid.Check(t, func(t *rapid.T) {
		c := crashRestart()
		c.Scenario = rapid.SampledFrom(all).Draw(t, "scenario")
		c.Scenario.Expect, c.Scenario.Generate = nil, nil
		c.Seed, c.Trace = rapid.Uint64().Draw(t, "seed"), rapid.Uint32().Draw(t, "trace")
		c.Property = rapid.SampledFrom(checker.Properties()).Draw(t, "property")
		c.Shows = rapid.SampledFrom([]checker.Verdict{checker.Holds, checker.Violated}).Draw(t, "shows")
		c.Story, c.Notes = text.Draw(t, "story"), text.Draw(t, "notes")

		var first, second bytes.Buffer
		if err := c.Write(&first); err != nil {
			t.Fatal(err)
		}
		read, err := cases.Parse(first.Bytes())
		if err != nil {
			t.Fatalf("%v, in\n%s", err, first.String())
		}
		if err := read.Write(&second); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() || read.Story != c.Story || read.Notes != c.Notes || !reflect.DeepEqual(read.Replay(), c.Replay()) {
			t.Errorf("another case is read than was written:\n%s\nand\n%s", first.String(), second.String())
		}
	})
}

// text is stories and worse: words, long and short, and what YAML may misread.
var text = rapid.OneOf(
	rapid.String(),
	rapid.StringMatching(`([a-zäé"':#\-\[{>|%&*!]{1,12} {1,2}|\n|\t){0,60}`),
)

// Law: a stored case repeats the same run with the same story.
func TestRunAgain(t *testing.T) {
	path, err := cases.Save(t.TempDir(), crashRestart())
	if err != nil {
		t.Fatal(err)
	}
	c, err := cases.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Run(t.Context(), simulated.Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Replay().Same(r) || c.Judge(r) != runner.AsExpected || r.Report.Finding(c.Property).Story() != c.Story {
		t.Errorf("the run is another: %+v", r.Report.Finding(c.Property))
	}
	c.Shows = checker.Holds
	if got := c.Judge(r); got != runner.Contradiction {
		t.Errorf("a violation where the case says that it holds is %v: want a contradiction", got)
	}
	r.Report.Findings = nil
	if got := c.Judge(r); got == runner.AsExpected {
		t.Error("a run of which nothing was found is as the case says")
	}
}

// Law: no case overwrites another, none is stored twice, and no other files are left.
func TestSaveOverwritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	var group sync.WaitGroup
	for i := range 16 { // each case twice
		group.Go(func() {
			c := crashRestart()
			c.Notes = fmt.Sprint(i / 2)
			if _, err := cases.Save(dir, c); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 8 {
		t.Fatalf("%d files, %v: want 8", len(list), err)
	}
	names := map[string]bool{}
	for _, f := range list {
		names[f.Name()] = true
	}
	for _, want := range []string{"redlock-lease-crash-partition.yaml", "redlock-lease-crash-partition-8.yaml"} {
		if !names[want] {
			t.Errorf("no %s among %v", want, names)
		}
	}
}

func TestBadInput(t *testing.T) {
	good := written(t, crashRestart())
	replace := func(old, by string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in\n%s", old, good)
		}
		return strings.Replace(good, old, by, 1)
	}
	var scenario bytes.Buffer
	if err := crashRestart().Scenario.Print(&scenario); err != nil {
		t.Fatal(err)
	}
	other := crashRestart().Replay()
	other.Scenario = "calm"
	begin, _, _ := strings.Cut(good, "\nscenario:")
	for name, c := range map[string]struct{ text, want string }{
		"nothing":               {"", "the file is empty"},
		"no scenario":           {begin + "\n...\n", "scenario.name: missing"},
		"text behind the end":   {good + "notes: more\n", `the last line is not "..."`},
		"an end before the end": {replace("scenario:", "...\nscenario:"), "line 13: "},
		"another version":       {replace("version: 1", "version: 2"), "line 2: version 2 of a case; this program reads version 1"},
		"no version":            {replace("version: 1\n", ""), "line 1: there is no version, so it is no case: want version: 1"},
		"an unknown field":      {replace("shows:", "show:"), "line 5: unknown field show"},
		"a field of a scenario": {replace("ttl:", "tttl:"), "scenario.lock: unknown field tttl"},
		"a value out of range":  {replace("nodes: 5", "nodes: 0"), "scenario.nodes: 0"},
		"another scenario":      {replace(crashRestart().Replay().String(), other.String()), `line 3: replay: it is of the scenario "calm", and that of the case is "crash-restart"`},
		"a seed by hand":        {replace("crash-restart.1.", "crash-restart.2."), "line 3: replay: the replay string"},
		"no replay string":      {replace("replay: "+crashRestart().Replay().String()+"\n", ""), "replay: missing"},
		"a verdict left open":   {replace("shows: violated", "shows: unknown"), "line 5: shows: unknown: want violated or holds"},
		"an unknown property":   {replace("property: lease", "property: least"), `line 4: property: unknown property "least"`},
		"what draws":            {replace("\n...", "\n  generate: {most: 2, faults: {latency: 1}}\n..."), "scenario.generate: not allowed in a case"},
		"what is expected":      {replace("\n...", "\n  expect: {lease: holds}\n..."), "scenario.expect: not allowed in a case"},
		"two documents":         {good + "---\n" + good, "a second document: a file holds one case"},
		"a scenario":            {scenario.String(), "line 1: a scenario, not a case (see lockstorm run)"},
		"a history":             {`{"format":"lockstorm-history","version":1,"nodes":1,"clients":2}` + "\n{}\n", "line 1: a history, not a case (see lockstorm check)"},
		"a stored run":          {`{"version":1,"trace_hash":"12","scenario":{}}`, "line 1: the record of a stored run, not a case"},
		"a picture":             {good + "\x89PNG\x00", "not a text file, so not a case"},
		"a list":                {"- 1\n- 2\n...\n", "line 1: there is a list: want a mapping"},
		"indented with a tab":   {replace("  name:", "\tname:"), "indented with a tab"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "case.yaml")
			testkit.Write(t, path, c.text)
			_, err := cases.Load(path)
			if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: want %s, and %q", err, path, c.want)
			}
		})
	}
}

// Law: a truncated case is an error that names the file.
func TestTruncatedCasesAreRefused(t *testing.T) {
	good := written(t, crashRestart())
	path := filepath.Join(t.TempDir(), "case.yaml")
	for n := 1; n < len(good)-1; n += 7 { // without the last line break it is whole
		testkit.Write(t, path, good[:n])
		if _, err := cases.Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Fatalf("%v: the first %d bytes of %d are read as a case", err, n, len(good))
		}
	}
	for _, whole := range []string{good, strings.TrimSuffix(good, "\n"), good + "\n\n", strings.ReplaceAll(good, "\n", "\r\n")} {
		if _, err := cases.Parse([]byte(whole)); err != nil {
			t.Errorf("%v, of\n%q", err, whole)
		}
	}
}

// A case that could not be read is not written.
func TestInvalidCasesAreNotWritten(t *testing.T) {
	c := crashRestart()
	c.Shows = checker.NotApplicable
	if _, err := cases.Save(t.TempDir(), c); err == nil {
		t.Error("a case is kept that shows nothing")
	}
}

// saved is the directory of the stored cases.
const saved = "../../testdata/cases"

func savedCases(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(saved, "*"+cases.Extension))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d cases in %s, %v", len(all), saved, err)
	}
	return all
}

// Law: every stored case still has its verdict, in the same run with the same story. Bless
// renews the run and the story; another verdict is a failure.
func TestGoldenCases(t *testing.T) {
	for _, path := range savedCases(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), cases.Extension), func(t *testing.T) {
			c, err := cases.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Run(t.Context(), simulated.Backend(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Judge(r) != runner.AsExpected {
				f := r.Report.Finding(c.Property)
				t.Fatalf("%s is %v, and the case says %v: %s\nlockstorm replay --trace %s tells it step by step.", f.Property.Title(), f.Verdict, c.Shows, f.Story(), path)
			}
			if runtime.GOARCH != "amd64" {
				t.Skip("the traces are those of amd64: floating point may differ between architectures")
			}
			now := cases.New(r, c.Property)
			now.Notes = c.Notes
			testkit.GoldenFile(t, path, written(t, now), "The case still shows what it says, and it is another run now, or told in other words.")
		})
	}
}
