package cli

import (
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/results"
)

// reference has the stored results, which internal/runner compares with the program.
const reference = "../../results/reference"

// The commands that stored results of real servers are printed with run on those.
func TestStoredResultsAreRepeatedOnTheirBackend(t *testing.T) {
	for file, args := range map[string][]string{results.DebateFile: {"debate"}, results.CompareFile: {"compare"}} {
		f, err := results.LoadReference(reference, file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		f.Backend, f.Versions = "process", map[string]string{"etcd": "3.4.23"}
		if err := f.Save(dir, file); err != nil {
			t.Fatal(err)
		}
		_, out, _ := command(t, append(args, "--from", reference)...)
		wantMatch(t, out, `"lockstorm run [A-Za-z-]+ --seed [A-Z0-9]+" repeats it`)
		page := filepath.Join(t.TempDir(), "page.html")
		_, out, _ = command(t, append(args, "--from", dir, "--report", page)...)
		wantMatch(t, out, `"lockstorm run [A-Za-z-]+ --seed [A-Z0-9]+ --backend process" repeats it`)
		wantIn(t, read(t, page), "etcd 3.4.23") // what they were made with, and not what this program is
	}
}
