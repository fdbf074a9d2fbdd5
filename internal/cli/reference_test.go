package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results"
)

// The reference results and the pages that are made of them are renewed by "make
// reference".

const (
	referenceDir = "../../results/reference"
	renew        = `; if that is as it should be, renew it with "make reference"`
)

// Law: the stored results contain exactly the rows, points and trials of the program, in their
// order. (The tests of internal/runner compare their verdicts.)
func TestReferenceIsOfTheWholeSuites(t *testing.T) {
	d, err := choose(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compared(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for file, whole := range map[string]suite{
		results.DebateFile: debateOptions{points: 1}.suite(d), results.CompareFile: c.suite(backends[0].Backend, 1, 1),
	} {
		stored, err := results.LoadReference(referenceDir, file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []results.Row
		for _, task := range whole.tasks {
			rows = append(rows, results.Row{Scenario: task.Scenario.Name})
		}
		for i, r := range results.InOrder(rows) {
			if i >= len(stored.Rows) || stored.Rows[i].Scenario != r.Scenario {
				t.Errorf("%s: row %d is not of %s%s", file, i+1, r.Scenario, renew)
				break
			}
		}
		if have, want := len(stored.Rows), len(whole.tasks); have != want {
			t.Errorf("%s has %d rows, and the program %d%s", file, have, want, renew)
		}
	}
}

// The page of agreement is what the stored debates give, and neither is there a difference
// without a reason nor a reason without a difference.
func TestAgreementIsOfWhatIsStored(t *testing.T) {
	stored, err := filepath.Glob("../../results/*/" + results.DebateFile)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"agreement", referenceDir}
	for _, file := range stored {
		if dir := filepath.Dir(file); dir != referenceDir {
			args = append(args, dir)
		}
	}
	const page = "../../docs/evidence/agreement.md"
	if len(args) == 2 {
		if _, err := os.Stat(page); err == nil {
			t.Error("docs/evidence/agreement.md is of debates that are not stored")
		}
		return
	}
	slices.SortFunc(args[2:], func(a, b string) int { return strings.Compare(b, a) }) // process before container
	code, should, problems := command(t, append(args, "--format", "markdown")...)
	if code != exitAsExpected {
		_, text, _ := command(t, args...)
		t.Fatalf("exit code %d: %s\n%s", code, problems, text)
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if text := testkit.FirstDifference(string(have), should); text != "" {
		t.Errorf(`docs/evidence/agreement.md is not what the stored results give, %s; renew it with "make agreement"`, text)
	}
}

const readme = "../../README.md"

// headlines finds the rows that the marker in README.md names, and the table behind it.
var headlines = regexp.MustCompile(`(?s)<!-- debate (.*?) -->\n(.*?)<!-- /debate -->\n`)

// The pages are what the stored results give.
func TestPagesAreOfTheReference(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	printed := func(args ...string) string {
		code, out, problems := command(t, append(args, "--from", referenceDir, "--format", "markdown")...)
		if code != exitAsExpected {
			t.Fatalf("lockstorm %s from what is stored: exit code %d, so that something stored is not as expected: %s", strings.Join(args, " "), code, problems)
		}
		return out
	}
	same := func(what, have, should string) {
		t.Helper()
		if text := testkit.FirstDifference(have, should); text != "" {
			t.Errorf("%s is not what the stored results give, %s%s", what, text, renew)
		}
	}
	same("docs/evidence/debate.md", read("../../docs/evidence/debate.md"), printed("debate"))
	same("docs/evidence/compare.md", read("../../docs/evidence/compare.md"), printed("compare"))
	parts := headlines.FindStringSubmatch(read(readme))
	if parts == nil {
		t.Fatal("README.md has no table between the markers")
	}
	same("the table in README.md", parts[2], printed(append([]string{"debate", "--short"}, strings.Fields(parts[1])...)...))
}
