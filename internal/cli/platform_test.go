package cli

import (
	"runtime"
	"testing"

	"github.com/spf13/cobra"
)

func TestSupportedOn(t *testing.T) {
	want(t, "what needs Linux, on Linux", supportedOn("linux", "--backend process", true), nil)
	want(t, "what needs nothing, elsewhere", supportedOn("windows", "--backend sim", false), nil)
	err := supportedOn("darwin", "--backend process", true)
	if err == nil {
		t.Fatal("what needs Linux is said to be supported on macOS")
	}
	wantMatch(t, err.Error(), `^--backend process: needs Linux, not darwin \(.*\)$`)
}

// Law: a backend that needs Linux is refused on another system before it does anything, but its
// abilities are known there.
func TestBackendsElsewhere(t *testing.T) {
	for _, b := range backends {
		cmd := &cobra.Command{}
		choice := backendFlags(cmd)
		if err := cmd.Flags().Set("backend", b.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := choice.able(); err != nil {
			t.Errorf("%s: its abilities: %v", b.Name, err)
		}
		if _, err := choice.backend(); b.linux && runtime.GOOS != "linux" && err == nil {
			t.Errorf("%s is not refused on %s", b.Name, runtime.GOOS)
		}
	}
}
