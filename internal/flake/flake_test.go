//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets this program keep a core busy, like the command.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == spinning {
		spin(os.Stdin)
	}
	os.Exit(m.Run())
}

// module writes a module with tests, and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example.com/tried\n\ngo 1.24\n"
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-buildvcs=false")
	t.Setenv("GOWORK", "off")
	return root
}

const greenTests = `package green
import "os"
import "testing"
func TestFile(t *testing.T) {
	if _, err := os.Stat("testdata/here"); err != nil { t.Error(err) }
}
func TestSkipped(t *testing.T) { t.Skip("not here") }
func TestContainer(t *testing.T) { t.Error("is left out") }
`

const redTests = `package red
import "testing"
import "runtime"
func TestTree(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad", func(t *testing.T) {
		if runtime.GOMAXPROCS(0) == 8 { t.Error("eight") }
	})
}
`

// tried returns options for a module, with a workspace beside it.
func tried(t *testing.T, root string) options {
	return options{
		root: root, modules: []string{"."}, keep: filepath.Join(t.TempDir(), "keep"), runs: 2, abreast: 2, limit: 5 * time.Minute,
		chosen: selection{skip: "^TestContainer", raced: "./green", others: "^TestNobody$"},
	}
}

// Every package runs under every stress, in its own directory. A failure is counted for the
// test that failed, under its stress.
func TestTablesOfAModule(t *testing.T) {
	root := module(t, map[string]string{
		"green/green_test.go": greenTests, "green/testdata/here": "", "red/red_test.go": redTests, "without.go": "package tried\n",
		"only/only_test.go": "package only\nimport \"testing\"\nfunc TestContainerAlone(t *testing.T) { t.Error(\"is left out\") }\n",
	})
	o := tried(t, root)
	o.page = filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(o.page, []byte("# Page\n\n<!-- flake -->\nold\n<!-- /flake -->\n\nEnd.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	failures, err := flake(t.Context(), o, io.Discard)
	if err != nil || failures != 2 {
		t.Fatalf("%d failures, %v", failures, err)
	}
	page, err := os.ReadFile(o.page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Page\n\n<!-- flake -->\n", "<!-- /flake -->\n\nEnd.\n", "which are all of `only`",
		"| `green` | 2 | 2 | 2 | 2 | 2 | 2 |\n",
		"| `red` | 2 | 2 | 2 | **2 of 2 (≤ 100 %)** | – | 2 |\n",
		"| `red` TestTree/bad | procs-8 | 2 of 2 (≤ 100 %) |\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(string(page), "old") {
		t.Error("the page keeps its old table")
	}
}

// Stored runs are not repeated until something has changed.
func TestResumes(t *testing.T) {
	root := module(t, map[string]string{"green/green_test.go": greenTests, "green/testdata/here": ""})
	o := tried(t, root)
	o.runs, o.abreast = 1, 1
	o.chosen.raced, o.chosen.others = "./none", "" // linking for the race detector takes a second
	each := len(stresses) - 1
	for _, want := range []int{each, 0} {
		if got := made(t, o); got != want {
			t.Errorf("%d runs, want %d", got, want)
		}
	}
	o.runs = 2
	if got := made(t, o); got != each {
		t.Errorf("%d more runs, want %d", got, each)
	}
	if err := os.WriteFile(filepath.Join(root, "green/testdata/here"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := made(t, o); got != 2*each {
		t.Errorf("%d runs of what has changed, want %d", got, 2*each)
	}
}

// made counts the runs that were made.
func made(t *testing.T, o options) int {
	t.Helper()
	var progress bytes.Buffer
	if _, err := flake(t.Context(), o, &progress); err != nil {
		t.Fatal(err)
	}
	return strings.Count(progress.String(), " passed, ")
}

// A test that hangs is ended with the stacks of its goroutines, and its processes are killed.
func TestHangs(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	root := module(t, map[string]string{"hangs/hangs_test.go": fmt.Sprintf(`package hangs
import ("fmt"; "os"; "os/exec"; "syscall"; "testing")
func TestHangs(t *testing.T) {
	cmd := exec.Command("sleep", "3600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil { t.Fatal(err) }
	if err := os.WriteFile(%q, []byte(fmt.Sprint(cmd.Process.Pid)), 0o644); err != nil { t.Fatal(err) }
	select {}
}
`, pids)})
	o := tried(t, root)
	o.runs, o.limit = 1, 3*time.Second
	desk, err := openWorkspace(t.Context(), o.keep)
	if err != nil {
		t.Fatal(err)
	}
	defer desk.close()
	packages, err := listPackages(t.Context(), root, o.modules)
	if err != nil {
		t.Fatal(err)
	}
	jobs, _, err := compileAll(t.Context(), packages, o, desk.binaries, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	desk.stressor.limit = o.limit
	r, err := desk.stressor.runJob(t.Context(), *jobs[0], 0, 7)
	if err != nil || r.Ended == "" || !slices.Equal(r.Failed, []string{"TestHangs"}) {
		t.Fatalf("%+v, %v", r, err)
	}
	said, err := os.ReadFile(r.Output)
	if err != nil || !strings.Contains(string(said), "test timed out") || !strings.Contains(string(said), "hangs.TestHangs(") {
		t.Errorf("%v, the output has no stacks:\n%s", err, said)
	}
	pid, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); runs(string(pid)); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %s is still there", pid)
		}
	}
}

// runs reports whether a process is still running.
func runs(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// A stopped command ends at once, and stores no result of the interrupted run.
func TestStopped(t *testing.T) {
	root := module(t, map[string]string{"waits/waits_test.go": "package waits\nimport \"testing\"\nfunc TestWaits(t *testing.T) { println(\"waits\"); select {} }\n"})
	o := tried(t, root)
	desk, err := openWorkspace(t.Context(), o.keep)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := listPackages(t.Context(), root, o.modules)
	if err != nil {
		t.Fatal(err)
	}
	jobs, _, err := compileAll(t.Context(), packages, o, desk.binaries, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	desk.stressor.limit, desk.stressor.grace = time.Hour, time.Hour
	ctx, stop := context.WithCancel(t.Context())
	heard := &listener{stop: stop}
	if _, _, err := desk.stressor.runBinary(ctx, *jobs[0], 0, 7, heard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := desk.work(ctx, jobs, o, io.Discard); err != nil || len(desk.kept.all) != 0 {
		t.Errorf("%v, %d results", err, len(desk.kept.all))
	}
	if _, err := openWorkspace(t.Context(), o.keep); err == nil {
		t.Error("two work in one folder")
	}
	desk.close()
}

// listener stops a run as soon as its test prints something.
type listener struct{ stop func() }

func (l *listener) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "waits") {
		l.stop()
	}
	return len(p), nil
}

// A failure is counted for the tests that failed or, if none did, for those that were running;
// not for their parents, nor for those waiting to run in parallel.
func TestFailedTests(t *testing.T) {
	for name, c := range map[string]struct {
		events string
		want   []string
	}{
		"a subtest": {`{"Action":"run","Test":"A"}{"Action":"run","Test":"A/b"}{"Action":"fail","Test":"A/b"}{"Action":"fail","Test":"A"}{"Action":"run","Test":"C"}`, []string{"A/b"}},
		"a panic":   {`{"Action":"run","Test":"A"}{"Action":"pause","Test":"A"}{"Action":"run","Test":"B"}{"Action":"run","Test":"B/c"}`, []string{"B/c"}},
		"nobody":    {`{"Action":"run","Test":"A"}{"Action":"pass","Test":"A"}{"Action":"fail"}`, []string{wholePackage}},
	} {
		p, err := follow(strings.NewReader(c.events), io.Discard)
		if got := p.failed(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	if _, err := follow(strings.NewReader(`{"Action":`), io.Discard); err == nil {
		t.Error("events that are cut off are read")
	}
}

// Breadth first, and among equals the shortest.
func TestOrder(t *testing.T) {
	of := func(name string, begun int, takes time.Duration) *job {
		return &job{testPackage: testPackage{name: name}, begun: begun, takes: takes}
	}
	p := &schedule{jobs: []*job{of("slow", 0, time.Hour), of("quick", 0, time.Second), of("ahead", 1, 0)}, target: 2}
	if n := p.left(); n != 5 {
		t.Errorf("%d runs are left, want 5", n)
	}
	var got []string
	for j := p.next(); j != nil; j = p.next() {
		got = append(got, j.testPackage.name)
	}
	if want := []string{"quick", "slow", "ahead", "quick", "slow"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPatterns(t *testing.T) {
	for pattern, want := range map[string][]string{
		"./...": {"cluster/live", "cluster", "clusters"}, "./cluster/...": {"cluster/live", "cluster"}, "./cluster": {"cluster"}, "cluster/live": {"cluster/live"},
	} {
		var got []string
		for _, name := range []string{"cluster/live", "cluster", "clusters"} {
			if (testPackage{name: name}).matches([]string{pattern}) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s means %v, want %v", pattern, got, want)
		}
	}
}

// The run of an incomplete line is repeated; an invalid line is an error.
func TestTruncatedStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.jsonl")
	for text, want := range map[string]int{"": 0, `{"package":"a"}` + "\n" + `{"pack`: 1} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := openStore(file)
		if err != nil || len(s.all) != want {
			t.Fatalf("%q: %d results, %v", text, len(s.all), err)
		}
		if err := s.add(result{Package: "b"}); err != nil {
			t.Fatal(err)
		}
		_ = s.file.Close()
		if s, err = openStore(file); err != nil || len(s.all) != want+1 || s.all[want].Package != "b" {
			t.Errorf("%q: afterwards %v, %v", text, s.all, err)
		}
		_ = s.file.Close()
	}
	if err := os.WriteFile(file, []byte("{}\nno\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(file); err == nil || !strings.Contains(err.Error(), ":2: ") {
		t.Errorf("got %v, want the number of the line", err)
	}
}
