//go:build !unix

package gotool

import "os/exec"

// Run runs a command. When its context ends, only the command itself is killed.
func Run(cmd *exec.Cmd) error { return cmd.Run() }
