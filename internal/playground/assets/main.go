// Assets writes what the playground's page shares with the reports and with Go into the folder of the
// front end, before that is built: the style and the scripts of the reports, the rows of the debate,
// the JSON schema of scenarios, and Go's own script for WebAssembly.
//
//	go run ./internal/playground/assets internal/playground/front
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/docs"
	"github.com/lockstorm/lockstorm/internal/playground"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
)

func main() {
	if len(os.Args) != 2 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: assets FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	// The rows are part of the page: it shows them before the program is loaded.
	rows, err := playground.Call("debate", []byte("{}"), nil)
	if err != nil {
		return err
	}
	style, script := report()
	for _, f := range []struct{ path, text string }{
		{"public/report.css", style},
		{"public/report.js", script},
		{"src/generated/schema.json", string(docs.ScenarioSchema)},
		{"src/generated/debate.json", string(rows)},
		{"src/generated/wasm_exec.js", string(glue)},
	} {
		path := filepath.Join(folder, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// report returns the style and the scripts of a report that shows a run.
func report() (style, script string) {
	for _, a := range append([]document.Assets{document.PageAssets()}, runpage.Assets()...) {
		style += a.Style
		if a.Script != "" {
			script += a.Scoped()
		}
	}
	return style, script
}
