package externaltest

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// locktestPath is the package that every test of a lock compiles.
const locktestPath = "github.com/lockstorm/lockstorm/locktest"

// Modules tests that the package in the current directory compiles those modules besides the ones
// that locktest itself compiles. Each has a reason.
func Modules(t *testing.T, reasons map[string]string) {
	t.Helper()
	known, here := modules(t, locktestPath), modules(t, ".")
	for _, module := range slices.Sorted(maps.Keys(here)) {
		if _, expected := reasons[module]; known[module] == "" && !expected {
			t.Errorf("who tests such a lock compiles %s: leave it out, or say in this list what a test needs it for", here[module])
		}
	}
	for module := range reasons {
		if here[module] == "" || known[module] != "" {
			t.Errorf("%s is listed, and nothing of it is compiled besides what locktest compiles", module)
		}
	}
}

// modules returns a package of each module that a package compiles.
func modules(t *testing.T, path string) map[string]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{$.ImportPath}}{{end}}", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for line := range strings.Lines(string(out)) {
		module, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		seen[module] = path
	}
	return seen
}
