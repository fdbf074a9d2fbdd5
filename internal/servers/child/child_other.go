//go:build !linux

package child

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

var errNotHere = errors.New("real servers need Linux, not " + runtime.GOOS + ": only there they die with this program")

// Forker starts nothing: it works on Linux only.
type Forker struct{}

// NewForker returns a forker whose Start fails.
func NewForker() *Forker { return new(Forker) }

// Reaper does not exist.
type Reaper struct{}

// StartReaper fails.
func StartReaper(string, ...string) (*Reaper, error) { return nil, errNotHere }

func (*Reaper) Dir() string  { return "" }
func (*Reaper) Pid() int     { return 0 }
func (*Reaper) Close() error { return nil }

// Port does not exist.
type Port struct{}

// ReservePort fails.
func ReservePort() (*Port, error) { return nil, errNotHere }

func (*Port) Number() int   { return 0 }
func (*Port) Addr() string  { return "" }
func (*Port) Vacant() error { return errNotHere }
func (*Port) Free()         {}

func (*Forker) Start(*exec.Cmd) error { return errNotHere }
func (*Forker) Close()                {}
func Stop(*os.Process) error          { return errNotHere }
func Continue(*os.Process) error      { return errNotHere }
func Stopped(int) bool                { return true }

func StopGroup(*os.Process) error     { return errNotHere }
func ContinueGroup(*os.Process) error { return errNotHere }
func KillGroup(*os.Process) error     { return errNotHere }
