//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
)

// stress is what makes a machine slow, or its schedule unusual, while a test binary runs.
// The tests are shuffled under every stress.
type stress struct {
	name  string
	about string // for the page
	race  bool   // the binary is built with the race detector
	procs int    // GOMAXPROCS; 0: as the runtime chooses
	busy  bool   // other processes keep every core busy
	core  bool   // the process may use one core alone
}

var stresses = []stress{
	{name: "busy", about: "a process beside it for each core, which never waits", busy: true},
	{name: "procs-1", about: "`GOMAXPROCS=1`", procs: 1},
	{name: "procs-2", about: "`GOMAXPROCS=2`", procs: 2},
	{name: "procs-8", about: "`GOMAXPROCS=8`", procs: 8},
	{name: "race", about: "built with `-race`", race: true},
	{name: "one-core", about: "one core by affinity (`taskset`)", core: true},
}

// command returns the words that start a binary under the stress; core is the one that a
// binary gets which may use one alone.
func (s stress) command(core int, words ...string) []string {
	if s.core {
		return append([]string{"taskset", "--cpu-list", strconv.Itoa(core)}, words...)
	}
	return words
}

// environment is what the stress adds to the variables of the process.
func (s stress) environment() []string {
	if s.procs > 0 {
		return []string{fmt.Sprintf("GOMAXPROCS=%d", s.procs)}
	}
	return nil
}

// environ returns our own variables without those that would be a stress.
func environ() (list []string) {
	for _, name := range os.Environ() {
		if len(name) < len("GOMAXPROCS=") || name[:len("GOMAXPROCS=")] != "GOMAXPROCS=" {
			list = append(list, name)
		}
	}
	return list
}
