package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// Law: every word of the scores of hunts and mutants stands in the table of docs/hunt.md.
func TestWordsOfScoresAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/hunt.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, score := range []any{haulScore{}, trialRecord{}, mutantScore{}} {
		gather(reflect.TypeOf(score), words)
	}
	for w := range words {
		if !strings.Contains(string(page), "`"+w+"`") {
			t.Errorf("docs/hunt.md does not say what %q is", w)
		}
	}
	if !words["run"] || !words["outcome"] {
		t.Errorf("only these words were found: %v", words)
	}
}

// gather collects the names of JSON fields, except those of sizes.
func gather(of reflect.Type, words map[string]bool) {
	for of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.Name() == "Extent" {
		return
	}
	for f := range of.Fields() {
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			words[name] = true
		}
		gather(f.Type, words)
	}
}
