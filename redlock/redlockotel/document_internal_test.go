package redlockotel

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const document = "../../docs/telemetry.md"

// The document has all names that can come, and no others.
func TestDocumentNamesEverything(t *testing.T) {
	page := read(t, document)
	for _, name := range outcomeNames[1:] {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("there is no outcome %s", name)
		}
	}
	name := regexp.MustCompile("[\"`](redlock(?:\\.[a-z]+)+|redlock [a-z]+|error\\.type)[\"`]")
	collect := func(texts ...string) map[string]bool {
		found := map[string]bool{}
		for _, text := range texts {
			for _, m := range name.FindAllStringSubmatch(text, -1) {
				found[m[1]] = true
			}
		}
		return found
	}
	made, told := collect(read(t, "instruments.go"), read(t, "try.go"), read(t, "lock.go")), collect(page)
	if len(made) < 25 {
		t.Errorf("only %d names are found: this test looks in the wrong place", len(made))
	}
	for n := range made {
		if !told[n] {
			t.Errorf("%s is not in the document", n)
		}
	}
	for n := range told {
		if !made[n] {
			t.Errorf("%s is in the document, and nothing makes it", n)
		}
	}
}

// The trace in the document is that of the example.
func TestDocumentShowsTheExample(t *testing.T) {
	_, output, found := strings.Cut(read(t, "example_trace_test.go"), "// Output:\n")
	if !found {
		t.Fatal("the example has no output")
	}
	output = strings.ReplaceAll(strings.TrimSuffix(output, "}\n"), "\t// ", "")
	if !strings.Contains(read(t, document), "```\n"+output+"```\n") {
		t.Errorf("the document does not show\n%s", output)
	}
}
