package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// asCommand makes the test binary the command itself.
const asCommand = "LOCKSTORM_TEST_COMMAND"

func TestMain(m *testing.M) {
	beClient()
	beFakeClient()
	if os.Getenv(asCommand) != "" {
		if terminal.Look(os.Stderr, os.Getenv).Kept {
			stderr = struct{ io.Writer }{os.Stderr} // lines of progress would come only on a slow machine
		}
		Main()
	}
	futures = 20
	// The go command below these tests need not vet: that compiles nothing, but reads all dependencies.
	if err := os.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -vet=off"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// command runs a command line and returns what it printed.
func command(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	return commandReading(t, "", args...)
}

// commandReading runs a command line that reads a text.
func commandReading(t *testing.T, text string, args ...string) (code int, out, problems string) {
	t.Helper()
	var o, p bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(text), &o, &p)
	return code, o.String(), p.String()
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// wantMatch wants a text to have a part that a regular expression describes.
func wantMatch(t *testing.T, text, expression string) {
	t.Helper()
	if !regexp.MustCompile(expression).MatchString(text) {
		t.Errorf("nothing is like %s in:\n%s", expression, text)
	}
}

// wantJSON wants a text to be JSON values.
func wantJSON(t *testing.T, text string) {
	t.Helper()
	for values := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		if err := values.Decode(&v); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
}

// soon waits until a condition holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// sources is the directory of the project, wherever a test is.
var sources = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// elsewhere goes into an empty directory, where no CI system is.
func elsewhere(t *testing.T) {
	t.Helper()
	for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
}

var read, write = testkit.Read, testkit.Write

// scenarioText returns a scenario of the table as a file, changed by pairs of old and new text.
func scenarioText(t *testing.T, name string, pairs ...string) string {
	t.Helper()
	_, text, _ := command(t, "list", name)
	changed := strings.NewReplacer(pairs...).Replace(text)
	if len(pairs) > 0 && changed == text {
		t.Fatalf("nothing of %q in:\n%s", pairs, text)
	}
	return changed
}

// inDir lists a directory.
func inDir(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names(list, os.DirEntry.Name), " ")
}
