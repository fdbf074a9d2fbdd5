package cli

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Every command that finds something makes a page of it, whatever its exit code says, and
// replaces the one that was there.
func TestCommandsMakeReports(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "made", "report.html")
	runs, found := filepath.Join(dir, "runs"), filepath.Join(dir, "cases")
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"run crash-restart --runs 2 --out " + runs, exitAsExpected, "their windows overlap by"},
		{"run calm --out= --seed 7", exitAsExpected, "lockstorm replay v1.calm.7."},
		{"replay --out= " + filepath.Join(runs, "crash-restart-sim-1"), exitAsExpected, "their windows overlap by"},
		{"check " + filepath.Join(runs, "crash-restart-sim-2"), exitAsExpected, "crash-restart, sim, seed 2"},
		{"debate crash-restart calm --runs 3", exitAsExpected, `<details id="witness-crash-restart">`},
		{"debate --from " + referenceDir, exitAsExpected, fmt.Sprintf("As expected: %d of %[1]d rows and %d of %[2]d series on sim, 100 runs a row, seeds 1 to 100, ", len(scenarios.All()), len(scenarios.AllSeries()))},
		{"compare --lock redlock --trial crash --runs 2", exitAsExpected, "The locks compared"},
		{"hunt --lock single-node --property V1 --runs 200 --out " + found, exitContradiction, "lockstorm replay " + found},
		{"check ../../README.md " + filepath.Join(runs, "crash-restart-sim-2"), exitBadInput, "Lockstorm: check crash-restart-sim-2"},
		{"sweep drift-edge --runs 5 --points 1,2", exitAsExpected, "Sweep: drift-edge"},
		{"tune ../../docs/service.yaml --runs 10", exitAsExpected, "The recommendation, and the basis of each figure"},
	} {
		args := append(strings.Fields(c.line), "--report", file)
		code, _, problems := command(t, args...)
		want(t, "exit code of "+c.line, code, c.code)
		wantIn(t, problems, "report: "+file)
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wantIn(t, string(page), "<!DOCTYPE html>", c.want, "lockstorm "+strings.Fields(c.line)[0]+" ", "--report "+file, "</html>")
	}
	if left := inDir(t, filepath.Dir(file)); left != "report.html" {
		t.Errorf("left behind: %s", left)
	}
}

// A witness that was stored is shown as it is stored, and not run again.
func TestReportOfAStoredDebate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my runs")
	file := filepath.Join(t.TempDir(), "r.html")
	code, _, _ := command(t, "debate", "crash-restart", "--runs", "2", "--out", dir, "--report", file)
	want(t, "exit code", code, exitAsExpected)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, html.UnescapeString(string(page)), "lockstorm replay '"+filepath.Join(dir, "crash-restart-sim-1")+"'")
}

// A run that cannot be judged is named once, and the page shows the others.
func TestReportOfWhatCouldBeChecked(t *testing.T) {
	dir := t.TempDir()
	file, theirs, none := filepath.Join(dir, "r.html"), "../../internal/jepsen/testdata/given-away.edn", filepath.Join(dir, "none")
	code, _, _ := command(t, "run", "calm", "--out", dir)
	want(t, "exit code of a run", code, exitAsExpected)
	ours := filepath.Join(dir, "calm-sim-1")
	code, out, problems := command(t, "check", "--report", file, theirs)
	want(t, "exit code of a history of Jepsen", code, exitBadInput)
	want(t, "what is printed of it", out, "")
	want(t, "complaints", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "given-away.edn: --report applies to histories of Lockstorm")
	code, _, problems = command(t, "check", "--report", file, none, theirs, ours)
	want(t, "exit code of three", code, exitBadInput)
	want(t, "complaints of three", strings.Count(problems, none), 1)
	wantIn(t, problems, "report: "+file)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(page), "calm, sim, seed 1")
}

func TestReportCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.html")
	code, said, _ := command(t, "report", "../../testdata/cases", "--out", out)
	want(t, "exit code", code, exitAsExpected)
	want(t, "what is said", said, "written to "+out+"\n")
	code, text, _ := command(t, "report", "../../testdata/cases/redlock-lease-suspend.yaml", "--format", "text")
	want(t, "exit code as text", code, exitAsExpected)
	wantIn(t, text, "V1 lease exclusion: violated")
}

// A report that cannot be written is an error before anything runs, and changes no file.
func TestReportsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for line, says := range map[string]string{
		"run calm --out= --report " + dir:                               "--report " + dir + ": is a directory",
		"debate --report " + filepath.Join(blocked, "r.html"):           "--report " + filepath.Join(blocked, "r.html"),
		"debate --out " + blocked:                                       "--out " + blocked + ": not a directory",
		"compare --out " + filepath.Join(blocked, "d"):                  "--out " + filepath.Join(blocked, "d") + ": not a directory",
		"hunt --report " + dir:                                          "--report " + dir + ": is a directory",
		"tune ../../docs/service.yaml --report " + dir:                  "--report " + dir + ": is a directory",
		"sweep drift-edge --report " + dir:                              "--report " + dir + ": is a directory",
		"report " + dir + " --out " + filepath.Join(dir, "r.html"):      "no results: no run.json",
		"report ../../testdata/cases --out " + dir:                      "--out " + dir + ": is a directory",
		"report ../../testdata/cases --format yaml":                     `unknown format "yaml": want html or text`,
		"report ../../testdata/cases --details -1":                      "--details -1: want at least 0",
		"check - --report " + filepath.Join(dir, "r.html"):              "standard input cannot be read twice",
		"sweep drift-edge --show 1 --report " + filepath.Join(dir, "r"): "show",
	} {
		code, _, problems := command(t, strings.Fields(line)...)
		want(t, "exit code of "+line, code, exitBadInput)
		wantIn(t, problems, says)
	}
	want(t, "files", inDir(t, dir), "file")
}
