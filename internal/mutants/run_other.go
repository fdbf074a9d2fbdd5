//go:build !unix

package mutants

import "os/exec"

// run runs a command. Its children it has to end itself.
func run(cmd *exec.Cmd) error { return cmd.Run() }
