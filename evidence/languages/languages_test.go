package languages

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	write = flag.Bool("write", false, "renew testdata (go -C evidence run . scoreboard-languages)")
	only  = flag.String("only", "", "the subjects that -write measures, by their names (default all)")
)

// built builds the command.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockstorm")
	cmd := exec.Command("go", "build", "-pgo=off", "-o", path, "./cmd/lockstorm")
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return path
}

// need fails the test unless all of some subjects can run.
func need(t *testing.T, subjects ...Subject) {
	t.Helper()
	for _, s := range subjects {
		if what := s.missing(); what != "" {
			t.Fatalf("%s cannot run: %s", s.Name, what)
		}
	}
}

// TestPython runs the example in Python in a calm. It is short enough for every pull request.
func TestPython(t *testing.T) { calm(t, built(t), t.TempDir(), subject("redis-py")) }

// calm checks that a subject keeps its promises in a calm.
func calm(t *testing.T, lockstorm, out string, s Subject) {
	t.Helper()
	need(t, s)
	kept := func(r Run) bool { return r.Verdicts[nameOf("V1")] == "holds" && r.Verdicts[nameOf("L1")] == "holds" }
	if r := decided(t, lockstorm, out, s, usualTTL, "calm", kept); !kept(r) {
		t.Errorf("%s in calm: %v", s.Name, r.Verdicts)
	}
}

// The examples keep their promises in a calm, and each finding is seen where it was, and not in its
// control.
func TestFindings(t *testing.T) {
	need(t, Subjects...)
	lockstorm, out := built(t), t.TempDir()
	for _, s := range Subjects {
		calm(t, lockstorm, out, s)
	}
	for _, f := range Findings {
		name := nameOf(f.Code)
		if r := decided(t, lockstorm, out, subject(f.Subjects[0]), f.TTL, f.Storm, func(r Run) bool { return r.Verdicts[name] == "violated" }); r.Verdicts[name] != "violated" {
			t.Errorf("%s is not seen in %s: %s is %s", f.Name, f.Storm, f.Code, r.Verdicts[name])
		}
		if r := decided(t, lockstorm, out, subject(f.Control), f.TTL, f.Storm, func(r Run) bool { return r.Verdicts[name] == "holds" }); r.Verdicts[name] != "holds" {
			t.Errorf("%s is seen in its control %s, too: %s is %s", f.Name, f.Control, f.Code, r.Verdicts[name])
		}
	}
}

// tries is how often a run is made until it shows what it should: real time does not repeat, and
// the machine may be too slow.
const tries = 4

// decided runs a subject through a storm until it shows something.
func decided(t *testing.T, lockstorm, out string, s Subject, ttl, storm string, shows func(Run) bool) (r Run) {
	t.Helper()
	for range tries {
		runs, err := s.try(lockstorm, out, ttl, []string{storm})
		if err != nil {
			t.Fatal(err)
		}
		if r = runs[0]; !r.Slipped && shows(r) {
			break
		}
	}
	return r
}

// TestScoreboard renews what is stored, of all subjects or of some.
func TestScoreboard(t *testing.T) {
	if !*write {
		t.Skip("not run: it renews testdata (go -C evidence run . scoreboard-languages)")
	}
	board, err := Load(Stored)
	if err != nil {
		t.Fatal(err)
	}
	chosen := Subjects
	if *only != "" {
		names := strings.Split(*only, ",")
		chosen = slices.DeleteFunc(slices.Clone(Subjects), func(s Subject) bool { return !slices.Contains(names, s.Name) })
	}
	need(t, chosen...)
	lockstorm, out := built(t), t.TempDir()
	for _, s := range chosen {
		version, err := s.version()
		if err != nil {
			t.Fatal(err)
		}
		runs, err := s.try(lockstorm, out, usualTTL, Storms)
		if err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			runs[i].Stories, runs[i].Dir = nil, ""
		}
		board.Subjects[s.Name] = Seen{version, runs}
		for _, f := range Findings {
			if f.Subjects[0] == s.Name {
				board.Findings[f.Name] = example(t, lockstorm, out, f)
			}
		}
		if err := board.store(Stored); err != nil {
			t.Fatal(err)
		}
	}
}

// example stores a run that shows a finding, and counts how many do.
func example(t *testing.T, lockstorm, out string, f Finding) Example {
	t.Helper()
	name := nameOf(f.Code)
	runs, err := subject(f.Subjects[0]).try(lockstorm, out, f.TTL, []string{f.Storm}, "--runs", "5")
	if err != nil {
		t.Fatal(err)
	}
	var e Example
	for _, r := range runs {
		switch {
		case r.Slipped:
			continue
		case r.Verdicts[name] == "violated":
			e.Violated++
			if e.Run.Dir == "" {
				e.Run = r
			}
		}
		e.Runs++
	}
	if e.Violated == 0 {
		t.Fatalf("%s is not seen in %d runs of %s", f.Name, e.Runs, f.Storm)
	}
	if err := keep(e.Run.Dir, filepath.Join("testdata", f.Name)); err != nil {
		t.Fatal(err)
	}
	e.Control = decided(t, lockstorm, out, subject(f.Control), f.TTL, f.Storm, func(r Run) bool { return r.Verdicts[name] == "holds" })
	e.Run.Dir, e.Run.Stories = "", map[string]string{name: e.Run.Stories[name]}
	e.Control.Dir, e.Control.Stories = "", nil
	return e
}

// keep stores a run as the example of a finding.
func keep(dir, as string) error {
	if err := os.RemoveAll(as); err != nil {
		return err
	}
	if err := os.MkdirAll(as, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"run.json", "history.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if name == "history.jsonl" {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, err = w.Write(text)
			if err := errors.Join(err, w.Close()); err != nil {
				return err
			}
			name, text = name+".gz", packed.Bytes()
		}
		if err := os.WriteFile(filepath.Join(as, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
