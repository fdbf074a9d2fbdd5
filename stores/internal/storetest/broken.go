package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// BrokenServer checks what is reported, and left behind, if the program of a store's servers does
// not do its work. In the directory that install is called with there is such a program of that
// name; install makes open use it.
func BrokenServer(t *testing.T, program string, install func(t *testing.T, dir string), open func(ctx context.Context) (live.Fleet, error)) {
	for _, c := range []struct {
		name, script string
		limit        time.Duration
		want         string
	}{
		{"ends at once", "echo no space left on device >&2; exit 3", Patience, "no space left on device"},
		{"never serves", "exec sleep 1000", 2 * time.Second, "the test has waited for long enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmp := OwnTemp(t)
			dir := t.TempDir()
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil { //nolint:gosec // it is executed
				t.Fatal(err)
			}
			install(t, dir)
			ctx, cancel := context.WithTimeoutCause(t.Context(), c.limit, errors.New("the test has waited for long enough"))
			defer cancel()
			fleet, err := open(ctx)
			if err == nil {
				_ = fleet.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if left := Entries(t, tmp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// MissingServer checks that a product tells its version, and that a machine without its programs gets an
// error that names their packages and leaves nothing behind.
func MissingServer(t *testing.T, open func(ctx context.Context) (live.Fleet, error), version func(context.Context) string, packages string) {
	if v := version(t.Context()); v == "" {
		t.Error("no version")
	}
	tmp := OwnTemp(t)
	t.Setenv("PATH", "")
	_, err := open(t.Context())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install "+packages) {
		t.Errorf("no line that says what to do: %v", err)
	}
	if left := Entries(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// InPath puts a directory in front of PATH.
func InPath(t *testing.T, dir string) {
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
