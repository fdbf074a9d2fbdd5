package cases

import (
	"bytes"
	"fmt"
	"go/token"
	"io"
	"strings"
	"text/template"
	"unicode"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// GoPackage is the package of the test that [Case.GoTest] writes.
const GoPackage = "lockstorm_test"

// GoTest writes a Go test of the case for a module that requires Lockstorm. The test contains
// the case, and fails unless the property holds: it fails until the lock is repaired.
func (c Case) GoTest(to io.Writer) error { return c.GoTestIn(to, GoPackage) }

// GoTestIn is [Case.GoTest] for a package of another name.
func (c Case) GoTestIn(to io.Writer, pkg string) error {
	if !token.IsIdentifier(pkg) {
		return fmt.Errorf("%q is no name of a Go package", pkg)
	}
	var file, source bytes.Buffer
	if err := c.Write(&file); err != nil {
		return err
	}
	err := goTest.Execute(&source, map[string]string{
		"Package": pkg,
		"Name":    exported(c.Property.Title()) + "Of" + exported(c.Scenario.Name),
		"Title":   c.Property.Title(),
		"Story":   comment(c.Story),
		"File":    raw(file.String()),
	})
	if err != nil {
		return err
	}
	_, err = to.Write(source.Bytes()) // formatted, as a test shows: package go/format would be a tenth of the playground
	return err
}

// exported joins words to a part of an exported Go name, as in "LeaseExclusion".
func exported(text string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// comment formats a text as a comment.
func comment(text string) string {
	all := textfmt.Lines(strings.Join(strings.Fields(text), " "), width)
	return "//\t" + strings.Join(all, "\n//\t")
}

// raw formats a text as a readable Go string.
func raw(text string) string { return "`" + strings.ReplaceAll(text, "`", "` + \"`\" + `") + "`" }

var goTest = template.Must(template.New("").Parse(`package {{.Package}}

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/results/cases"
)

// Test{{.Name}} repeats a run in the simulator, in which
// {{.Title}} has to hold. The finding when the case was stored:
//
{{.Story}}
//
// To see it step by step, write the case below to a file: lockstorm replay --trace FILE.
func Test{{.Name}}(t *testing.T) {
	c, err := cases.Parse([]byte(kept{{.Name}}))
	if err != nil {
		t.Fatal(err)
	}
	report, err := c.Simulate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f := report.Finding(c.Property); f.Verdict != checker.Holds {
		t.Errorf("%s is %v: %s", c.Property.Title(), f.Verdict, f.Story())
	}
}

const kept{{.Name}} = {{.File}}
`))
