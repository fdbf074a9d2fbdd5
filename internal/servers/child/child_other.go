//go:build !linux

package child

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

var errNotHere = errors.New("processes can be made to die with us on Linux only, not on " + runtime.GOOS)

// Forker is what NewForker would return on Linux.
type Forker struct{}

// NewForker returns one that starts nothing.
func NewForker() *Forker { return new(Forker) }

func (*Forker) Start(*exec.Cmd) error { return errNotHere }
func (*Forker) Close()                {}
func Stop(*os.Process) error          { return errNotHere }
func Continue(*os.Process) error      { return errNotHere }
func Still(int) bool                  { return true }
