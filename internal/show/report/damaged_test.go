package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results"
)

// Law: whatever stands in the report of a run.json, its page is made or an error says why not. Of a list
// each field is changed in the first entry that has it.
func TestDamagedRunsAreShownOrRefused(t *testing.T) {
	file := filepath.Join(crashRestart(t), results.RunFile)
	whole := []byte(testkit.Read(t, file))
	var run any
	if err := json.Unmarshal(whole, &run); err != nil {
		t.Fatal(err)
	}
	var shown, refused int
	try := func(change string) {
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
	seen := map[string]bool{}
	eachValue(run.(map[string]any)["report"], "report", func(place string, old any, set func(any)) {
		if seen[place] {
			return
		}
		seen[place] = true
		for _, v := range []any{nil, -1, []any{}} {
			set(v)
			try(fmt.Sprintf("%s = %v", place, v))
		}
		set(old)
	})
	if shown == 0 || refused == 0 {
		t.Errorf("%d damaged runs were shown, %d refused: want some of each", shown, refused)
	}
}

// eachValue visits each value below v with its place, which is the same for all entries of a list.
func eachValue(v any, place string, visit func(place string, old any, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for key, old := range v {
			visit(place+"."+key, old, func(to any) { v[key] = to })
			eachValue(old, place+"."+key, visit)
		}
	case []any:
		for i, old := range v {
			visit(place+"[]", old, func(to any) { v[i] = to })
			eachValue(old, place+"[]", visit)
		}
	}
}
