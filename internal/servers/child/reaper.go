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
var script string

// patience is how long the reaper may take to remove the directory.
const patience = 10 * time.Second

// Reaper is a shell process that survives us, if only for as long as it takes to take
// back what is ours.
type Reaper struct {
	dir   string
	stdin io.Closer
	cmd   *exec.Cmd
}

// StartReaper starts one. Before it removes its directory it runs a script of a shell there,
// with arguments; empty: none.
func StartReaper(last string, args ...string) (*Reaper, error) {
	cmd := exec.Command("sh", append([]string{"-c", script, "lockstorm-reaper", os.TempDir(), last}, args...)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // out of reach of Ctrl-C and of a hangup
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the process that cleans up after us: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = stdin.Close()
		return nil, errors.Join(fmt.Errorf("cannot make a temporary directory in %s", os.TempDir()), cmd.Wait())
	}
	return &Reaper{dir: strings.TrimSuffix(line, "\n"), stdin: stdin, cmd: cmd}, nil
}

// Dir is its directory, which is empty at first.
func (r *Reaper) Dir() string { return r.dir }

// Pid is the number of its process.
func (r *Reaper) Pid() int { return r.cmd.Process.Pid }

// Close has everything taken back now.
func (r *Reaper) Close() error {
	_ = r.stdin.Close()
	late := time.AfterFunc(patience, func() { _ = r.cmd.Process.Kill() })
	defer late.Stop()
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("%s could not be removed: %w", r.dir, err)
	}
	return nil
}
