//go:build linux

package child

import (
	"bufio"
	_ "embed" // the script
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

//go:embed reaper.sh
var reaperScript string

// removeTimeout bounds how long the reaper may take to remove its directory.
const removeTimeout = 10 * time.Second

// Reaper is a shell process that owns a temporary directory and removes it when this
// program ends, however it ends. It lives in its own session, so no signal from the
// terminal reaches it, and a SIGKILL of this program does not kill it.
type Reaper struct {
	dir   string
	stdin io.Closer
	cmd   *exec.Cmd
}

// StartReaper starts a reaper. It runs the shell script last, with args, in its directory
// before it removes that. An empty script does nothing.
func StartReaper(last string, args ...string) (*Reaper, error) {
	cmd := exec.Command("sh", append([]string{"-c", reaperScript, "lockstorm-reaper", os.TempDir(), last}, args...)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // neither Ctrl-C nor a hangup reaches it
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the process that removes temporary files: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = stdin.Close()
		return nil, errors.Join(fmt.Errorf("create a temporary directory in %s", os.TempDir()), cmd.Wait())
	}
	return &Reaper{dir: strings.TrimSuffix(line, "\n"), stdin: stdin, cmd: cmd}, nil
}

// Dir returns the reaper's directory, which is empty at first.
func (r *Reaper) Dir() string { return r.dir }

// Pid returns the process id of the reaper.
func (r *Reaper) Pid() int { return r.cmd.Process.Pid }

// Close makes the reaper clean up now and waits for it.
func (r *Reaper) Close() error {
	_ = r.stdin.Close()
	late := time.AfterFunc(removeTimeout, func() { _ = r.cmd.Process.Kill() })
	defer late.Stop()
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("remove %s: %w", r.dir, err)
	}
	return nil
}
