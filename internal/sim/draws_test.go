package sim

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Random numbers come from the sources of draws.go, which name an entry of Random. Few functions draw one
// that no chooser chooses: each says why. A law of package explore shows that no others decide a run.
func TestRandomNumbersHaveAnEntry(t *testing.T) {
	unchosen := map[string]string{
		"Random":        "tokens: a bound that an exploration prints",
		"chosenDraw":    "the way of the seed at a point",
		"Uint64":        "the way of the seed at a point",
		"draw":          "all durations are alike",
		"faultDraws":    "all durations are alike",
		"hits":          "every message is lost",
		"keepJournal":   "the way of the seed at a point, when power is lost",
		"journalChange": "the way of the seed at a point, when the replica takes over",
	}
	found := map[string]bool{}
	for name, f := range sources(t) {
		for _, decl := range f.Decls {
			inFunctions(decl, func(function string, s *ast.SelectorExpr) {
				of, _ := s.X.(*ast.Ident)
				switch {
				case s.Sel.Name == "unchosen":
					found[function] = true
					if unchosen[function] == "" {
						t.Errorf("%s: %s draws a number that is no choice", name, function)
					}
				case of == nil || name == "draws.go":
				case of.Name == "nemesis" && s.Sel.Name == "Stream",
					of.Name == "rand" && !slices.Contains([]string{"PCG", "New"}, s.Sel.Name):
					t.Errorf("%s: %s calls %s.%s: want a source of draws.go", name, function, of.Name, s.Sel.Name)
				}
			})
		}
	}
	for function := range unchosen {
		if !found[function] {
			t.Errorf("%s draws nothing", function)
		}
	}
}

// sources parses the files of the package, without its tests.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	all := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if all[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// inFunctions calls visit for each selector in a declaration, with the name of the function.
func inFunctions(decl ast.Decl, visit func(function string, s *ast.SelectorExpr)) {
	function := ""
	if f, ok := decl.(*ast.FuncDecl); ok {
		function = f.Name.Name
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			visit(function, s)
		}
		return true
	})
}
