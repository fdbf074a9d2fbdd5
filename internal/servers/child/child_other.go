//go:build !linux

package child

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

var errNotHere = errors.New("child processes can be made to die with their parent on Linux only, not on " + runtime.GOOS)

// Forker starts nothing: it works on Linux only.
type Forker struct{}

// NewForker returns a forker whose Start fails.
func NewForker() *Forker { return new(Forker) }

func (*Forker) Start(*exec.Cmd) error { return errNotHere }
func (*Forker) Close()                {}
func Stop(*os.Process) error          { return errNotHere }
func Continue(*os.Process) error      { return errNotHere }
func Stopped(int) bool                { return true }
