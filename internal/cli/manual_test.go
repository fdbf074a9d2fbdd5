package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/manual"
)

// Law: a release has a page for man of each command that help lists, and a completion script for
// each shell that the command knows.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600") // 1 January 2026
	root := newRoot()
	if err := manual.Write(root, dir); err != nil {
		t.Fatal(err)
	}
	written := func(path ...string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(append([]string{dir}, path...)...))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	pages := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		text := written("man", strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
		wantIn(t, text, cmd.Short, `"Jan 2026"`)
		pages++
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" { // help is an option of each
				look(c)
			}
		}
	}
	look(root)
	all, err := os.ReadDir(filepath.Join(dir, "man"))
	if err != nil || len(all) != pages {
		t.Errorf("%d pages, %v: want %d", len(all), err, pages)
	}
	for name, begins := range map[string]string{"lockstorm.bash": "# bash completion V2 for lockstorm", "_lockstorm": "#compdef lockstorm", "lockstorm.fish": "# fish completion for lockstorm", "lockstorm.ps1": "# powershell completion for lockstorm"} {
		if text := written("completions", name); !strings.HasPrefix(text, begins) {
			t.Errorf("%s begins with %.60q: want %q", name, text, begins)
		}
	}
}
