package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// adapterRow is a row of the table of lock libraries: the module and the test.
var adapterRow = regexp.MustCompile("(?m)^\\| .* \\| `(\\w+test)` \\| `(\\w+\\.Run\\(t, .*\\))` \\|$")

// fileText returns the text of a file of the project.
func fileText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Law: each adapter is in the table of docs/test-your-lock.md, with a line that its example has.
func TestAdaptersAreShown(t *testing.T) {
	shown := map[string]bool{}
	for _, row := range adapterRow.FindAllStringSubmatch(fileText(t, "docs/test-your-lock.md"), -1) {
		folder := "locktest/" + row[1]
		shown[folder] = true
		if !strings.Contains(fileText(t, folder+"/example_test.go"), "\t"+row[2]+"\n") {
			t.Errorf("%s/example_test.go does not have the line of the page: %s", folder, row[2])
		}
	}
	modules, err := filepath.Glob(filepath.Join(root, "locktest", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 7 {
		t.Errorf("only %d modules found: this test looks in the wrong place", len(modules))
	}
	for _, module := range modules {
		if folder := "locktest/" + filepath.Base(filepath.Dir(module)); !shown[folder] {
			t.Errorf("docs/test-your-lock.md does not show %s", folder)
		}
	}
}

// Law: the worked example is on the page as its module runs it.
func TestWorkedExampleIsShown(t *testing.T) {
	code, page := fileText(t, "locktest/redsynctest/testdata/checkout/locks_test.go"), fileText(t, "docs/test-your-lock.md")
	first, second, found := strings.Cut(code, "\nfunc TestPrompt")
	if !found {
		t.Fatal("there is no second test")
	}
	for _, block := range []string{first, "func TestPrompt" + second} {
		if !strings.Contains(page, "```go\n"+block+"```\n") {
			t.Errorf("the page does not have\n%s", block)
		}
	}
}

// Law: the address that a failure of locktest names is a heading of the page.
func TestKnownCausesAreOnThePage(t *testing.T) {
	const address = "/docs/test-your-lock.md#known-causes"
	if !strings.Contains(fileText(t, "locktest/failuretext.go"), address) {
		t.Errorf("locktest does not name %s", address)
	}
	if !strings.Contains(fileText(t, "docs/test-your-lock.md"), "\n### Known causes\n") {
		t.Error("the page has no such heading")
	}
}
