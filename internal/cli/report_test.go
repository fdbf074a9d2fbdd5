package cli

import (
	"bufio"
	"context"
	"html"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// Every command that finds something makes a page of it, whatever its exit code says, and
// replaces the one that was there.
func TestCommandsMakeReports(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "made", "report.html")
	runs, debated, found := filepath.Join(dir, "runs"), filepath.Join(dir, "debate"), filepath.Join(dir, "cases")
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"run crash-restart --runs 2 --out " + runs, exitAsExpected, "the two holds overlap by"},
		{"run calm --out= --seed 7", exitAsExpected, "lockstorm replay v1.calm.7."},
		{"replay --out= " + filepath.Join(runs, "crash-restart-sim-1"), exitAsExpected, "the two holds overlap by"},
		{"check " + filepath.Join(runs, "crash-restart-sim-1"), exitAsExpected, "crash-restart, sim, seed 1"},
		{"debate crash-restart calm --runs 3 --out " + debated, exitAsExpected, `<details id="witness-crash-restart">`},
		{"debate --from " + debated, exitAsExpected, `As expected: 2 of 2 rows`},
		{"compare --lock redlock --trial crash --runs 2", exitAsExpected, "The locks compared"},
		{"hunt --lock single-node --property V1 --runs 100 --out " + found, exitContradiction, "lockstorm replay " + found},
		{"check ../../README.md " + filepath.Join(runs, "crash-restart-sim-1"), exitBadInput, "Lockstorm: check crash-restart-sim-1"},
		{"sweep drift-edge --runs 5 --points 1,2", exitAsExpected, "Sweep: drift-edge"},
		{"tune ../../docs/service.yaml --runs 10", exitAsExpected, "The recommendation, and the basis of each figure"},
	} {
		args := append(strings.Fields(c.line), "--report", file)
		code, _, problems := command(t, args...)
		want(t, "exit code of "+c.line, code, c.code)
		wantIn(t, problems, "report: "+file)
		wantIn(t, read(t, file), "<!DOCTYPE html>", c.want, "lockstorm "+strings.Fields(c.line)[0]+" ", "--report "+file, "</html>")
	}
	if left := inDir(t, filepath.Dir(file)); left != "report.html" {
		t.Errorf("left behind: %s", left)
	}
}

// A witness that was stored is shown as it is stored, and not run again.
func TestReportOfAStoredDebate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my runs")
	file := filepath.Join(t.TempDir(), "r.html")
	code, _, _ := command(t, "debate", "crash-restart", "--runs", "2", "--out", dir, "--report", file)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, html.UnescapeString(read(t, file)), "lockstorm replay '"+filepath.Join(dir, "crash-restart-sim-1")+"'")
}

// A run that cannot be judged is named once, and the page shows the others.
func TestReportOfWhatCouldBeChecked(t *testing.T) {
	dir := t.TempDir()
	file, theirs, none := filepath.Join(dir, "r.html"), "../../internal/jepsen/testdata/given-away.edn", filepath.Join(dir, "none")
	code, _, _ := command(t, "run", "calm", "--out", dir)
	want(t, "exit code of a run", code, exitAsExpected)
	ours := filepath.Join(dir, "calm-sim-1")
	code, out, problems := command(t, "check", "--report", file, theirs)
	want(t, "exit code of a history of Jepsen", code, exitBadInput)
	want(t, "what is printed of it", out, "")
	want(t, "complaints", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "given-away.edn: --report applies to histories of Lockstorm")
	code, _, problems = command(t, "check", "--report", file, none, theirs, ours)
	want(t, "exit code of three", code, exitBadInput)
	want(t, "complaints of three", strings.Count(problems, none), 1)
	wantIn(t, problems, "report: "+file)
	wantIn(t, read(t, file), "calm, sim, seed 1")
}

// The page of what is stored, and the playground if the program was built with it, are served at each address that is
// printed, until the context ends.
func TestReportOverHTTP(t *testing.T) {
	before := playgroundFiles
	defer func() { playgroundFiles = before }()
	elsewhere(t)
	command(t, "run", "calm")
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "0.0.0.0:0", ":0"} {
		built := address == "localhost:0"
		playgroundFiles = func() (fs.FS, bool) {
			return fstest.MapFS{"index.html": {Data: []byte(`<meta name="stored-runs" content="">`)}}, built
		}
		ctx, stop := context.WithCancel(t.Context())
		in, out := io.Pipe()
		ended := make(chan int)
		go func() {
			ended <- execute(ctx, []string{"report", "--http", address}, strings.NewReader(""), out, io.Discard)
		}()
		said, err := bufio.NewReader(in).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(strings.TrimSpace(said), " is at ")
		get := func(page string) string {
			response, err := http.Get(page)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%s: %v, %d", page, err, response.StatusCode)
			}
			return string(text)
		}
		pages := strings.Split(list, ", ")
		for _, page := range pages {
			wantIn(t, get(page), map[bool]string{true: `content="api/runs"`, false: "calm, sim, seed 1"}[built])
			wantIn(t, get(page+"report"), "calm, sim, seed 1", "lockstorm report --http")
		}
		stop()
		want(t, "exit code", <-ended, exitAsExpected)
		if response, err := http.Get(pages[0]); err == nil {
			_ = response.Body.Close()
			t.Error("the page is still served")
		}
	}
}
