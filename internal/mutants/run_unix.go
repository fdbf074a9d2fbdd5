//go:build unix

package mutants

import (
	"os/exec"
	"syscall"
)

// run runs a command in a process group of its own, which is killed as a whole when
// the command's context ends: a compiler has children.
func run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}
