package checker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const findingsPage = "../docs/findings.md"

// The tables of the page are made of the types: assumptions, and kinds of statements with
// the comments beside them.
func TestFindingsPageIsCurrent(t *testing.T) {
	read, err := os.ReadFile(findingsPage)
	if err != nil {
		t.Fatal(err)
	}
	made := replaced(t, string(read), "assumptions", assumptionTable())
	made = replaced(t, made, "statements", statementTables(t))
	made = replaced(t, made, "example", exampleFinding(t))
	testkit.GoldenFile(t, findingsPage, made, "A finding says something else.")
}

// replaced is a page with another text between two marks.
func replaced(t *testing.T, page, mark, text string) string {
	t.Helper()
	begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the %s", findingsPage, mark)
	}
	return before + begin + "\n" + text + "\n" + end + after
}

func assumptionTable() string {
	var b strings.Builder
	b.WriteString("| assumption | says | broken by | what helps |\n|---|---|---|---|\n")
	for _, a := range checker.Assumptions() {
		text, brokenBy, remedy := a.Explain()
		fmt.Fprintf(&b, "| <a id=\"%s\"></a>`%s` | %s | %s | %s |\n", a, a, text, brokenBy, remedy)
	}
	return b.String()
}

// exampleFinding is the finding of a history in docs, as JSON.
func exampleFinding(t *testing.T) string {
	t.Helper()
	file, err := os.Open("../docs/two-holders.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := history.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	c := checker.New(r.Header(), checker.Lease)
	for e, err := r.Next(); !errors.Is(err, io.EOF); e, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		c.Record(e)
	}
	text, err := json.MarshalIndent(c.Finish().Finding(checker.Lease), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return "```json\n" + string(text) + "\n```"
}

func statementTables(t *testing.T) string {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "statement.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != gotoken.CONST {
			continue
		}
		fmt.Fprintf(&b, "%s\n\n| kind | meaning |\n|---|---|\n", strings.Join(strings.Fields(group.Doc.Text()), " "))
		for _, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			kind, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(v.Doc.Text()+v.Comment.Text()), " ")
			if text == "" {
				t.Errorf("%s has no comment", v.Names[0].Name)
			}
			_, after, named := strings.Cut(text, v.Names[0].Name+": ")
			if named {
				text = after
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", kind, strings.TrimPrefix(text, v.Names[0].Name+" "))
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// Each assumption says what it means, what breaks it and what helps.
func TestAssumptionsAreExplained(t *testing.T) {
	for _, a := range checker.Assumptions() {
		if text, brokenBy, remedy := a.Explain(); text == "" || brokenBy == "" || !strings.HasSuffix(remedy, ".") {
			t.Errorf("%s: %q, %q, %q", a, text, brokenBy, remedy)
		}
	}
}
