//go:build unix

package gotool

import (
	"os/exec"
	"syscall"
)

// Run runs a command in a process group of its own. The whole group is killed when the
// command's context ends: the go command has children.
func Run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}
