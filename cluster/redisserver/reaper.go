//go:build linux

package redisserver

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

// reaperPatience is how long the reaper may take to remove the directory.
const reaperPatience = 10 * time.Second

// reaper is a shell process that owns our directory and survives us, if only
// for as long as it takes to remove it.
type reaper struct {
	dir   string
	stdin io.Closer
	cmd   *exec.Cmd
}

func startReaper() (*reaper, error) {
	cmd := exec.Command("sh", "-c", reaperScript, "lockstorm-reaper", os.TempDir())
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
	return &reaper{dir: strings.TrimSuffix(line, "\n"), stdin: stdin, cmd: cmd}, nil
}

// close has the directory removed.
func (r *reaper) close() error {
	_ = r.stdin.Close()
	late := time.AfterFunc(reaperPatience, func() { _ = r.cmd.Process.Kill() })
	defer late.Stop()
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("%s could not be removed: %w", r.dir, err)
	}
	return nil
}
