//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/shlex"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// Each file of testdata/*.txt is the transcript of a session: command lines behind "$ ", what they print, and
// their exit codes other than 0; remarks stand behind "-- ". The test runs the commands, with real durations cut out, and wants the same; with
// -update it writes the files. Bad input prints one line on standard error, and nothing else.
func TestGoldenTranscripts(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("runs are those of amd64")
	}
	files, err := filepath.Glob(filepath.Join(sources, "internal/cli/testdata/*.txt"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text := read(t, file)
			scene(t)
			var made strings.Builder
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "-- ") {
					made.WriteString(line)
				}
				typed, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
				if !is {
					continue
				}
				out, problems, code := typedIn(t, typed)
				if code == exitBadInput && out == "" && problems != "" && !strings.HasPrefix(typed, "lockstorm check ") && (strings.Count(problems, "\n") != 1 || !strings.HasPrefix(problems, "lockstorm: ")) {
					t.Errorf("%s: want one line of error, got %q", typed, problems)
				}
				fmt.Fprintf(&made, "%s%s%s", line, masked(out), masked(problems))
				if code != 0 {
					fmt.Fprintf(&made, "[exit code %d]\n", code)
				}
				made.WriteString("\n")
			}
			testkit.GoldenFile(t, file, made.String(), "The command prints something else.")
		})
	}
}

// scene goes into a new directory with a copy of testdata/scene, in which "lockstorm" is this program and some
// directories of the project stand.
func scene(t *testing.T) {
	t.Helper()
	elsewhere(t)
	if err := os.CopyFS(".", os.DirFS(filepath.Join(sources, "internal/cli/testdata/scene"))); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"bin/lockstorm": self}
	for _, name := range []string{"docs", "internal", "testdata", "results", "locktest"} {
		links[name] = filepath.Join(sources, name)
	}
	if err := os.Mkdir("bin", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range links {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
}

// shellWords are what makes a line a case for the shell, which takes longer.
var shellWords = regexp.MustCompile(`[|<;&*$]|^[^l]|\\`)

// typedIn runs a line as a shell would.
func typedIn(t *testing.T, line string) (out, problems string, code int) {
	t.Helper()
	command_, into, redirected := strings.Cut(line, " >")
	if words, err := shlex.Split(command_); err == nil && words[0] == "lockstorm" && !shellWords.MatchString(line) {
		code, out, problems = command(t, words[1:]...)
		if redirected {
			write(t, strings.TrimSpace(into), out)
			out = ""
		}
		return out, problems, code
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), asCommand+"=1", "PATH="+filepath.Join(here, "bin")+":"+os.Getenv("PATH"))
	text, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), "", cmd.ProcessState.ExitCode()
}
