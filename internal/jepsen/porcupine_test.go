package jepsen

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

var (
	knownVerdict = regexp.MustCompile(`checkJepsen\(t, (\d+), (true|false)\)`)
	logLine      = regexp.MustCompile(`^INFO\s+jepsen\.util\s+-\s+(\d+)\s+:(invoke|ok|fail|info)\s+:(read|write|cas)\s+(.*?)\s*$`)
)

// Law: the judge finds in the histories that Jepsen has recorded of etcd, and
// that porcupine is tested with, what porcupine finds.
func TestPorcupinesHistories(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Fatalf("where is porcupine's module? %v", err)
	}
	dir := strings.TrimSpace(string(out))
	source, err := os.ReadFile(filepath.Join(dir, "porcupine_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[checker.Verdict]int{}
	for _, m := range knownVerdict.FindAllStringSubmatch(string(source), -1) {
		log, err := os.ReadFile(filepath.Join(dir, "test_data", "jepsen", fmt.Sprintf("etcd_%03s.log", m[1])))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]checker.Verdict{"true": checker.Holds, "false": checker.Violated}[m[2]]
		report, err := Judge(context.Background(), strings.NewReader(ednOf(string(log))), Options{})
		if err != nil {
			t.Errorf("etcd_%s: %v", m[1], err)
			continue
		}
		if f := report.Findings[0]; f.Verdict != want {
			t.Errorf("etcd_%s: %s %s, and porcupine says it %s", m[1], f.Verdict, f.Story, want)
		}
		found[want]++
	}
	if found[checker.Holds] < 10 || found[checker.Violated] < 10 {
		t.Errorf("too few histories to show anything: %v", found)
	}
}

// ednOf writes a log of Jepsen as a history.
func ednOf(log string) string {
	var b strings.Builder
	for _, l := range strings.Split(log, "\n") {
		if m := logLine.FindStringSubmatch(l); m != nil {
			value := strings.ReplaceAll(m[4], ":timed-out", "nil, :error :timed-out")
			fmt.Fprintf(&b, "{:process %s, :type :%s, :f :%s, :value %s}\n", m[1], m[2], m[3], value)
		}
	}
	return b.String()
}
