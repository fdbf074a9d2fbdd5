package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		{"run crash-restart --runs 2 --out " + runs, exitAsExpected, "V1 lease exclusion violated"},
		{"run calm --out= --seed 7", exitAsExpected, "lockstorm run calm --seed 7"},
		{"replay --out= " + filepath.Join(runs, "crash-restart-sim-1"), exitAsExpected, "V1 lease exclusion violated"},
		{"check --picture none " + filepath.Join(runs, "crash-restart-sim-2"), exitAsExpected, "crash-restart, sim, seed 2"},
		{"debate crash-restart calm --runs 3", exitAsExpected, `<details id="witness-crash-restart">`},
		{"debate --from " + referenceDir, exitAsExpected, "on sim 67 of 67 rows are as expected."},
		{"compare --locks redlock --trial crash --runs 2", exitAsExpected, "The locks compared"},
		{"hunt --lock single-node --property V1 --runs 200 --out " + found, exitContradiction, "lockstorm replay " + found},
		{"sweep drift-edge --runs 5 --points 1,2", exitAsExpected, "Sweep: drift-edge"},
	} {
		args := append(strings.Fields(c.line), "--report", file)
		code, _, problems := command(t, args...)
		want(t, "exit code of "+c.line, code, c.code)
		wantIn(t, problems, "report: "+file)
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wantIn(t, string(page), "<!DOCTYPE html>", c.want, "</html>")
	}
	if left := inDir(t, filepath.Dir(file)); left != "report.html" {
		t.Errorf("left behind: %s", left)
	}
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

// What is wrong with a report is told before anything runs, and nothing is changed.
func TestReportsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for line, says := range map[string]string{
		"run calm --out= --report " + dir:                               "is a directory",
		"debate --report " + filepath.Join(blocked, "r.html"):           "--report " + filepath.Join(blocked, "r.html"),
		"hunt --report " + dir:                                          "is a directory",
		"tune ../../docs/service.yaml --report " + dir:                  "is a directory",
		"sweep drift-edge --report " + dir:                              "is a directory",
		"report " + dir + " --out " + filepath.Join(dir, "r.html"):      "nothing that a report is made of",
		"report ../../testdata/cases --out " + dir:                      "--out " + dir + ": is a directory",
		"report ../../testdata/cases --format yaml":                     `unknown format "yaml": want html or text`,
		"report ../../testdata/cases --details -1":                      "--details -1: want at least 0",
		"check - --report " + filepath.Join(dir, "r.html"):              "standard input cannot be read a second time",
		"hunt --debate --report " + filepath.Join(dir, "r.html"):        "debate",
		"sweep drift-edge --show 1 --report " + filepath.Join(dir, "r"): "show",
	} {
		code, _, problems := command(t, strings.Fields(line)...)
		want(t, "exit code of "+line, code, exitBadInput)
		wantIn(t, problems, says)
	}
	want(t, "files", inDir(t, dir), "file")
}
