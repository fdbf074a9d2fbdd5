package locktest_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// dependencies are the modules that a test with locktest compiles, and why.
var dependencies = map[string]string{
	"github.com/lockstorm/lockstorm":    "",
	"github.com/alicebob/miniredis/v2":  "nodes in memory",
	"github.com/yuin/gopher-lua":        "scripts in miniredis",
	"github.com/redis/go-redis/v9":      "locktest.Process asks its servers by it, and what it logs is recorded",
	"github.com/cespare/xxhash/v2":      "go-redis",
	"go.uber.org/atomic":                "go-redis",
	"github.com/Shopify/toxiproxy/v2":   "faults on connections",
	"github.com/rs/zerolog":             "toxiproxy's toxics",
	"github.com/mattn/go-colorable":     "zerolog",
	"github.com/mattn/go-isatty":        "zerolog",
	"github.com/anishathalye/porcupine": "V3",
	"go.yaml.in/yaml/v3":                "storms in files",
	"github.com/agnivade/levenshtein":   "the nearest name where a storm has a wrong one",
	"golang.org/x/mod":                  "versions of installed servers are compared",
	"golang.org/x/sync":                 "runs of servers side by side",
	"golang.org/x/sys":                  "clocks, processes",
}

// unwanted are packages of this project that only the command needs.
var unwanted = []string{"internal/report", "internal/jepsen", "internal/sweep", "internal/tune", "internal/trace", "internal/sim", "internal/servers/container", "internal/terminal", "internal/schema"}

func TestDependencies(t *testing.T) {
	const own = "github.com/lockstorm/lockstorm"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{$.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{} // a package of each module
	for line := range strings.Lines(string(out)) {
		module, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		seen[module] = path
		for _, u := range unwanted {
			if rest, within := strings.CutPrefix(path, own+"/"+u); within && (rest == "" || rest[0] == '/') {
				t.Errorf("who tests a lock compiles %s, which is for the command", path)
			}
		}
	}
	for _, module := range slices.Sorted(maps.Keys(seen)) {
		if _, known := dependencies[module]; !known {
			t.Errorf("who tests a lock compiles %s: leave it out, or say in this list what a test needs it for", seen[module])
		}
	}
	for module := range dependencies {
		if seen[module] == "" {
			t.Errorf("%s is listed, and nothing of it is compiled", module)
		}
	}
}
