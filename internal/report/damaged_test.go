package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/results"
)

// Law: whatever stands in the report of a run.json, its page is made or an error says why not. Of a list
// each field is changed in the first entry that has it.
func TestDamagedRunsAreShownOrRefused(t *testing.T) {
	file := filepath.Join(crashRestart(t), results.RunFile)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var run any
	if err := json.Unmarshal(whole, &run); err != nil {
		t.Fatal(err)
	}
	var shown, refused int
	seen, index := map[string]bool{}, regexp.MustCompile(`\[\d+\]`)
	try := func(change string) {
		kind := index.ReplaceAllString(change, "[]")
		if seen[kind] {
			return
		}
		seen[kind] = true
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v", change, p)
			}
		}()
		text, err := json.Marshal(run)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.Of(t.Context(), []string{filepath.Dir(file)}, options)
		if err != nil {
			refused++
			return
		}
		shown++
		if err := r.Write(io.Discard); err != nil {
			t.Errorf("%s: %v", change, err)
		}
	}
	eachChange(run.(map[string]any)["report"], "report", try)
	if shown == 0 || refused == 0 {
		t.Errorf("%d damaged runs were shown, %d refused: want some of each", shown, refused)
	}
}

// eachChange replaces each value below v in turn, calls try, and restores the value.
func eachChange(v any, path string, try func(change string)) {
	replacements := []any{-1, []any{}}
	switch v := v.(type) {
	case map[string]any:
		for key, old := range v {
			at := path + "." + key
			delete(v, key)
			try(at + " missing")
			for _, r := range replacements {
				v[key] = r
				try(fmt.Sprintf("%s = %v", at, r))
			}
			v[key] = old
			eachChange(old, at, try)
		}
	case []any:
		for i, old := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			for _, r := range replacements {
				v[i] = r
				try(fmt.Sprintf("%s = %v", at, r))
			}
			v[i] = old
			eachChange(old, at, try)
		}
	}
}
