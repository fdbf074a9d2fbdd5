package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner is the user as which the servers run; nil: as this program.
type owner syscall.Credential

// findOwner returns the user postgres if this program is root.
func findOwner() (*owner, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: %w (it comes with apt-get install postgresql)", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &owner{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// run makes the command run as the user.
func (o *owner) run(cmd *exec.Cmd) *exec.Cmd {
	if o != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: (*syscall.Credential)(o)}
	}
	return cmd
}

// take gives a file to the user.
func (o *owner) take(path string) error {
	if o == nil {
		return nil
	}
	return os.Chown(path, int(o.Uid), int(o.Gid))
}

// releaseMemory makes the kernel remove the System V shared memory of a running server with
// its last process. A server that is killed would leave it behind.
func releaseMemory(data string) error {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return err
	}
	const line = 6 // from 0: the key and the id of the memory
	lines := strings.Split(string(text), "\n")
	if len(lines) <= line {
		return nil
	}
	fields := strings.Fields(lines[line])
	if len(fields) != 2 {
		return nil
	}
	id, err := strconv.Atoi(fields[1])
	if err != nil {
		return err
	}
	_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	return os.NewSyscallError("shmctl", err)
}
