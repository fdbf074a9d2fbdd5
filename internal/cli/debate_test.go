package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
)

// held runs a debate on rows and series, and returns what it is and prints.
func held(t *testing.T, d debate, format string) (debate, string) {
	t.Helper()
	d.named = true
	o := suiteOptions{backend: backends[0].Backend, runs: 10, seed: 1, format: format}
	var out bytes.Buffer
	_, _, err := o.present(t.Context(), &d, &out, io.Discard)
	if !isVerdict(err) {
		t.Fatal(err)
	}
	return d, out.String()
}

// plain is a screen without colours.
type plain struct{ screen }

func (p plain) Screen() terminal.Screen { return terminal.Screen{Width: p.columns, Terminal: true} }

// On a terminal each line of the main table is printed when its runs are done, and all that is printed
// is what stored results give.
func TestLinesAppearWhenTheyAreDecided(t *testing.T) {
	d, err := choose([]string{"calm", "crash-restart", "delayed-restart"})
	if err != nil {
		t.Fatal(err)
	}
	atOnce := d
	var out bytes.Buffer
	var before []string // what is printed when the first run of a scenario is done
	o := suiteOptions{backend: backends[0].Backend, runs: 10, seed: 1, format: asText, each: func(r stored) {
		if r.Seed == 1 {
			before = append(before, out.String())
		}
	}}
	if _, _, err := o.present(t.Context(), &d, plain{screen{Writer: &out, columns: 200}}, io.Discard); err != nil {
		t.Fatal(err)
	}
	wantIn(t, before[0], "ROW ")
	for i, line := range []string{"\ncalm ", "\ncrash-restart ", "\ndelayed-restart "} {
		if strings.Contains(before[i], line) || !strings.Contains(before[i+1], line) {
			t.Errorf("line %q is not printed when its runs are done, but:\n%s\nthen\n%s", line, before[i], before[i+1])
		}
	}
	if last := before[len(before)-1]; strings.Contains(last, "(series)") {
		t.Errorf("the series is printed before its last point:\n%s", last)
	}
	if _, want := held(t, atOnce, asText); strings.Join(strings.Fields(out.String()), " ") != strings.Join(strings.Fields(want), " ") { // on a terminal other lines are broken
		t.Errorf("line by line:\n%s\nat once:\n%s", out.String(), want)
	}
}

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
