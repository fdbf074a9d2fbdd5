package scenarios

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every file of the debate is a row, and can be run by its path.
func TestDebateFiles(t *testing.T) {
	topics, _, err := readDebate()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]File{}
	for _, topic := range topics {
		for _, r := range topic.Rows {
			if _, twice := rows[r.Name]; twice {
				t.Errorf("%s lists %s twice", topicsFile, r.Name)
			}
			rows[r.Name] = r
		}
	}
	files, err := fs.Glob(debateFiles, "debate/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if _, listed := rows[name]; !listed {
			if file != topicsFile {
				t.Errorf("%s is not listed in %s", file, topicsFile)
			}
			continue
		}
		if _, err := Load(filepath.FromSlash(file), func(Scenario) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

// A change of a row changes a copy: the row stays as it is.
func TestChangesLeaveTheRowAlone(t *testing.T) {
	for _, topic := range Topics() {
		for _, r := range topic.Rows {
			before := printed(t, r.Scenario)
			change := func(what string, apply func(*Scenario)) {
				s := r.Scenario
				apply(&s)
				if printed(t, s) == before {
					t.Errorf("%s: %q changes nothing", r.Name, what)
				}
				if err := s.Validate(); err != nil {
					t.Errorf("%s: %q: %v", r.Name, what, err)
				}
			}
			for _, c := range r.Cures {
				change(c.What, c.Apply)
			}
			for _, d := range r.Damages {
				change(d.What, d.Apply)
			}
			if printed(t, r.Scenario) != before {
				t.Errorf("%s is changed by its cures or damages", r.Name)
			}
		}
	}
}

func printed(t *testing.T, s Scenario) string {
	t.Helper()
	var b strings.Builder
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A mistake below "debate" is found like any other, with its line.
func TestDebateMistakes(t *testing.T) {
	text, err := debateFiles.ReadFile("debate/crash-restart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for bad, want := range map[string]string{
		"set: {persist: none}":      "unknown field persist;",
		"set: {horizon: soon}":      "is not a duration",
		"without: partition":        "want a list",
		"withuot: [partition]":      "unknown field",
		"without: [partitoin]":      "partitoin",
		"also: [{crash: {nod: 3}}]": "unknown field",
	} {
		_, err := parseFile([]byte(strings.Replace(string(text), "set: {persistence: aof-always}", bad, 1)))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
	if !slices.ContainsFunc(All(), func(s Scenario) bool { return s.Name == "crash-restart" }) {
		t.Error("crash-restart is no row")
	}
}
