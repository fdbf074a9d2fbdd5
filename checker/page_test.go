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
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const findingsPage = "../docs/findings.md"

// The tables of the page are made of the assumptions and of the types, with the comments beside their
// fields.
func TestFindingsPageIsCurrent(t *testing.T) {
	read := testkit.Read(t, findingsPage)
	made := replaced(t, read, "assumptions", assumptionTable())
	made = replaced(t, made, "fields", fieldTable(t))
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

// fieldTable lists the fields of a finding's JSON, and the values of its roles and duties.
func fieldTable(t *testing.T) string {
	decls := map[string]*ast.TypeSpec{}
	values := map[string]string{}
	for _, name := range []string{"finding.go", "contract.go", "progress.go"} {
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				decls[n.Name.Name] = n
			case *ast.ValueSpec:
				if kind, _ := n.Type.(*ast.Ident); kind != nil && (kind.Name == "Role" || kind.Name == "Duty") {
					values[kind.Name] += row(strings.ToLower(kind.Name), n.Values[0].(*ast.BasicLit).Value, n.Comment.Text())
				}
			}
			return true
		})
	}
	var b strings.Builder
	b.WriteString("| of | field or value | meaning |\n|---|---|---|\n")
	for _, of := range []struct{ what, kind string }{
		{"finding", "Finding"}, {"event", "Event"}, {"node", "NodeTime"}, {"cause", "Cause"}, {"first", "Pair"}, {"grant", "Grant"}, {"where", "Place"},
	} {
		for _, f := range decls[of.kind].Type.(*ast.StructType).Fields.List {
			tag, _ := strconv.Unquote(f.Tag.Value)
			field, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			b.WriteString(row(of.what, field, f.Comment.Text()))
		}
	}
	return b.String() + values["Role"] + values["Duty"]
}

func row(of, name, meaning string) string {
	return fmt.Sprintf("| %s | `%s` | %s |\n", of, strings.Trim(name, `"`), strings.TrimSpace(meaning))
}
