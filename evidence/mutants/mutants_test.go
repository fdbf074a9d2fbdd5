package mutants

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const root = "../.."

func all(t *testing.T) []Mutant {
	t.Helper()
	list, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no mutant")
	}
	return list
}

// Every mutant applies to the current source. If you change a function that a mutant changes,
// plant the defect again.
func TestNoMutantHasMovedOn(t *testing.T) {
	for _, m := range all(t) {
		if _, err := m.sources(root); err != nil {
			t.Error(err)
		}
	}
}

func TestNumbersAreUniqueAndNameTheFiles(t *testing.T) {
	named := regexp.MustCompile(`^planted/\d{2,3}[a-z]?-[a-z-]+\.diff$`)
	seen := map[string]string{}
	for _, m := range all(t) {
		if other := seen[m.Number]; other != "" {
			t.Errorf("%s and %s are both number %s", other, m.file, m.Number)
		}
		seen[m.Number] = m.file
		number, _, _ := strings.Cut(strings.TrimLeft(path.Base(m.file), "0"), "-")
		if number != m.Number || !named.MatchString(m.file) {
			t.Errorf("%s is number %s", m.file, m.Number)
		}
	}
}

// A diff contains its functions and types completely, so that no change of them goes unnoticed,
// and changes nothing else but imports.
func TestDiffsAreOfTheFunctionsThatTheyName(t *testing.T) {
	for _, m := range all(t) {
		left := slices.Clone(m.Functions)
		for _, e := range m.edits {
			inside := functionsIn(t, e)
			if len(inside) == 0 {
				t.Errorf("mutant %s: a hunk of %s holds no function or type that it changes whole: make it with git diff -W", m.Number, e.file)
			}
			for _, f := range inside {
				if f != imports && !slices.Contains(m.Functions, f) {
					t.Errorf("mutant %s changes %s, which it does not name", m.Number, f)
				}
				left = slices.DeleteFunc(left, func(l string) bool { return l == f })
			}
		}
		if len(left) > 0 {
			t.Errorf("mutant %s does not change the whole of %v", m.Number, left)
		}
	}
}

// imports stands for a declaration of imports.
const imports = "imports"

// functionsIn returns the functions and types that an edit changes and contains completely, or
// imports.
func functionsIn(t *testing.T, e edit) (names []string) {
	t.Helper()
	text := testkit.Read(t, filepath.Join(root, e.file))
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, e.file, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		whole := string(text[fset.Position(d.Pos()).Offset:fset.Position(d.End()).Offset])
		if !strings.Contains(e.old, whole) || strings.Contains(e.new, whole) {
			continue
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, path.Base(path.Dir(e.file))+"."+nameOf(d))
		case *ast.GenDecl:
			switch d.Tok {
			case token.IMPORT:
				names = append(names, imports)
			case token.TYPE:
				names = append(names, path.Base(path.Dir(e.file))+"."+d.Specs[0].(*ast.TypeSpec).Name.Name)
			}
		}
	}
	return names
}

// nameOf returns the name of a function as in a stack trace.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	switch of := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return "(*" + of.X.(*ast.Ident).Name + ")." + f.Name.Name
	case *ast.Ident:
		return of.Name + "." + f.Name.Name
	}
	return "?"
}

const example = `Number: 3
Title: a title
What: what it is,
  in two lines
Property: V1, C
Source: owner/some.repo#12, other/repo#3
Lock: redlock
Function: p.f

diff --git a/p/f.go b/p/f.go
--- a/p/f.go
+++ b/p/f.go
@@ -10,5 +10,5 @@
 // f is it.
 func f() int {
-	return 1
+	return 2
 }
 
`

func TestParse(t *testing.T) {
	m, err := parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if m.Number != "3" || m.What != "what it is, in two lines" || !slices.Equal(m.Sources, []string{"owner/some.repo#12", "other/repo#3"}) || !slices.Equal(m.Names, []checker.Property{checker.Lease, checker.Contract}) {
		t.Errorf("%+v", m)
	}
	want := edit{"p/f.go", "// f is it.\nfunc f() int {\n\treturn 1\n}\n", "// f is it.\nfunc f() int {\n\treturn 2\n}\n", "@@ -10,5 +10,5 @@"}
	if len(m.edits) != 1 || m.edits[0] != want {
		t.Errorf("%q", m.edits)
	}
	for what, change := range map[string][2]string{
		"there is none of that code": {"V1, C", "V9"},
		`"Title: …" is missing`:      {"Title: a title\n", ""},
		"want a line that begins":    {"Lock: redlock", "Lock redlock"},
		"want one like owner/":       {"other/repo#3", "other/repo"},
		"want changes of a file":     {"+++ b/p/f.go", "+++ /dev/null"},
		"fragment header":            {"-10,5", "-10,4"},
		"there is no diff":           {example[strings.Index(example, "diff --git"):], ""},
	} {
		if _, err := parse([]byte(strings.Replace(example, change[0], change[1], 1))); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
}

// A function that has moved is unchanged. Any other change is reported with the function.
func TestSources(t *testing.T) {
	m, err := parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	const passage = "// f is it.\nfunc f() int {\n\treturn 1\n}\n"
	for name, text := range map[string]string{
		"as it was":         "package p\n\n" + passage,
		"moved":             "package p\n\nvar x int\n\n" + passage + "\n// g.\nfunc g() {}\n",
		"its body":          "package p\n\n" + strings.Replace(passage, "1", "3", 1),
		"its indentation":   "package p\n\n" + strings.Replace(passage, "\t", "  ", 1),
		"its comment":       "package p\n\n" + strings.Replace(passage, "it", "that", 1),
		"two of it":         "package p\n\n" + passage + passage,
		"nothing but a box": "package p\n",
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "p"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "p", "f.go"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		sources, err := m.sources(dir)
		if name == "as it was" || name == "moved" {
			if want := strings.Replace(text, "return 1", "return 2", 1); err != nil || sources["p/f.go"] != want {
				t.Errorf("%s: %q, %v", name, sources, err)
			}
			continue
		}
		moved := new(MovedOnError)
		if !errors.As(err, &moved) || !strings.Contains(err.Error(), "mutant 3 (p.f) has moved on") || !strings.Contains(err.Error(), "p/f.go: the hunk @@ -10,5 +10,5 @@ does not apply") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.sources(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has moved on") {
		t.Errorf("no file: %v", err)
	}
}

// A diff of one's own needs no lines before it. An error names the file and the hunk.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	load := func(text string) (Mutant, error) {
		file := filepath.Join(dir, "my.diff")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return Load(file)
	}
	bare := example[strings.Index(example, "diff --git"):]
	m, err := load("commit 1234\n\n    a message\n\n" + bare)
	if err != nil || m.Lock != "redlock" || !slices.Equal(m.Names, checker.Properties()) || len(m.edits) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = m.sources(dir)
	if want := filepath.Join(dir, "my.diff") + ": p/f.go: the hunk @@ -10,5 +10,5 @@ does not apply"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	for what, text := range map[string]string{
		"my.diff: gitdiff: line ":         strings.Replace(bare, "-10,5", "-10,4", 1),
		"my.diff: there is no diff in it": "",
		`my.diff: "p/f.go" becomes "/dev`: strings.Replace(bare, "+++ b/p/f.go", "+++ /dev/null", 1),
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
}
