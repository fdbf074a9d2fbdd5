package disk

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxOld is how many bytes of old content the undo logs of a disk may keep. What is appended to a
// file needs no memory.
const maxOld = 256 << 20

// Disk is a directory whose files lose what was not synced by [Disk.Cut]. Its methods are safe for
// concurrent use.
type Disk struct {
	dir    string // where it is mounted
	files  string // what it stores
	report func(error)
	full   sync.Once
	syncs  atomic.Int64
	filled atomic.Bool // see [Disk.Fill]
	old    budget

	switching sync.Mutex   // held while the power is switched
	power     sync.RWMutex // held for reading while something changes
	on        *boot        // nil: the power is off

	logs sync.Mutex
	log  map[uint64]*fileLog // by the number of the file's inode
}

// fileLog is the undo log of a file.
type fileLog struct {
	mu   sync.Mutex
	undo *undo // nil: the file is as at its last sync
}

// fuseDevice is what a FUSE file system is served through.
const fuseDevice = "/dev/fuse"

// Available returns an error that says what is missing if disks cannot be mounted here.
func Available() error {
	fd, err := unix.Open(fuseDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return explain(&os.PathError{Op: "open", Path: fuseDevice, Err: err})
	}
	_ = unix.Close(fd)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return os.NewSyscallError("capget", err)
	}
	if data[0].Effective&(1<<unix.CAP_SYS_ADMIN) == 0 {
		return explain(&os.PathError{Op: "mount", Path: fuseDevice, Err: unix.EPERM})
	}
	return nil
}

// explain says how to get what is missing.
func explain(err error) error {
	var advice string
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		advice = "load the kernel's FUSE module (modprobe fuse); a container needs --device /dev/fuse"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		advice = "run as root; a container needs --device /dev/fuse --cap-add SYS_ADMIN"
	default:
		return err
	}
	return fmt.Errorf("a disk that loses what was not synced needs FUSE: %w: %s", err, advice)
}

// Mount creates a directory and mounts a new disk there. Its files are in another new directory, whose name
// ends in ".files". report gets the first error that makes a later cut inexact. The disk has to be
// closed; a reaper that removes the directory (package child) unmounts it.
func Mount(dir string, report func(error)) (*Disk, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	d := &Disk{dir: dir, files: dir + ".files", report: report, log: map[uint64]*fileLog{}}
	d.old.left.Store(maxOld)
	for _, path := range []string{d.dir, d.files} {
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, err
		}
	}
	return d, d.switchOn()
}

// Dir returns the directory.
func (d *Disk) Dir() string { return d.dir }

// Syncs returns how often a file was synced. Of a nil disk it is not known, and 0.
func (d *Disk) Syncs() int64 {
	if d == nil {
		return 0
	}
	return d.syncs.Load()
}

// Fill makes every write fail as on a full disk, or stops that.
func (d *Disk) Fill(full bool) { d.filled.Store(full) }

// SyncAll makes all files count as synced, as the command sync does. A nil disk has none.
func (d *Disk) SyncAll() {
	if d == nil {
		return
	}
	d.power.Lock()
	defer d.power.Unlock()
	_ = d.forget(nil) // only what it calls returns errors
}

// forget ends all undo logs. It calls do with each before, unless that is nil.
func (d *Disk) forget(do func(*undo) error) (err error) {
	d.logs.Lock()
	defer d.logs.Unlock()
	for _, l := range d.log {
		if l.undo == nil {
			continue
		}
		if do != nil {
			err = errors.Join(err, do(l.undo))
		}
		l.undo.drop()
	}
	clear(d.log)
	return err
}

// Cut switches the power off and on again: each file is then as at its last sync. Nobody may use
// the directory meanwhile: file descriptors from before return errors.
func (d *Disk) Cut() error {
	d.switching.Lock()
	defer d.switching.Unlock()
	if err := d.switchOff(); err != nil {
		return err
	}
	if err := d.forget((*undo).apply); err != nil {
		return fmt.Errorf("take back what was not synced below %s: %w", d.files, err)
	}
	return d.switchOn()
}

// Close unmounts the directory. A second Close does nothing.
func (d *Disk) Close() error {
	d.switching.Lock()
	defer d.switching.Unlock()
	return errors.Join(d.switchOff(), d.forget(nil))
}

// switchOff ends the mount. A request that is still under way then changes nothing.
func (d *Disk) switchOff() error {
	was := d.set(nil) // the kernel may write pages when the mount ends
	if was == nil {
		return nil
	}
	return was.end()
}

// set sets the mount, when no change is under way, and returns the last one.
func (d *Disk) set(on *boot) (was *boot) {
	d.power.Lock()
	defer d.power.Unlock()
	was, d.on = d.on, on
	return was
}

// while runs a change of the disk's content if the power is on.
func (d *Disk) while(on *boot, do func() syscall.Errno) syscall.Errno {
	d.power.RLock()
	defer d.power.RUnlock()
	if d.on != on {
		return syscall.EIO
	}
	return do()
}

// logOf returns the undo log of a file.
func (d *Disk) logOf(inode uint64) *fileLog {
	d.logs.Lock()
	defer d.logs.Unlock()
	l := d.log[inode]
	if l == nil {
		l = &fileLog{}
		d.log[inode] = l
	}
	return l
}

// withLog runs do with the undo log of an open file, which it holds, if the power is on.
func (d *Disk) withLog(on *boot, fd int, do func(*fileLog) syscall.Errno) syscall.Errno {
	return d.while(on, func() syscall.Errno {
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil {
			return toErrno(err)
		}
		l := d.logOf(stat.Ino)
		l.mu.Lock()
		defer l.mu.Unlock()
		return do(l)
	})
}

// changing runs do, which changes bytes of an open file, or takes them away.
func (d *Disk) changing(on *boot, fd int, from, to int64, do func() syscall.Errno) syscall.Errno {
	return d.withLog(on, fd, func(l *fileLog) syscall.Errno {
		if err := d.remember(l, fd, from, to); err != nil {
			d.full.Do(func() {
				d.report(fmt.Errorf("the disk %s cannot keep what it may have to restore (at most %d MiB): %w", d.dir, maxOld>>20, err))
			})
			return syscall.ENOSPC
		}
		return do()
	})
}

// remember logs what is about to change. The caller holds the log.
func (d *Disk) remember(l *fileLog, fd int, from, to int64) (err error) {
	if l.undo == nil {
		f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if l.undo, err = newUndo(f, &d.old); err != nil {
			return err
		}
	}
	return l.undo.before(from, to)
}

// sync makes a file count as synced if do succeeds, which syncs it.
func (d *Disk) sync(on *boot, fd int, do func() syscall.Errno) syscall.Errno {
	return d.withLog(on, fd, func(l *fileLog) syscall.Errno {
		if errno := do(); errno != 0 {
			return errno
		}
		d.syncs.Add(1)
		l.end()
		return 0
	})
}

// end ends the log. The caller holds it.
func (l *fileLog) end() {
	if l.undo != nil {
		l.undo.drop()
		l.undo = nil
	}
}

// removing runs do, which removes a name, and ends the log of the file if that was its last one.
func (d *Disk) removing(path string, do func() syscall.Errno) syscall.Errno {
	var stat unix.Stat_t
	known := unix.Lstat(path, &stat) == nil
	errno := do()
	if errno == 0 && known && stat.Nlink == 1 && stat.Mode&unix.S_IFMT == unix.S_IFREG {
		l := d.logOf(stat.Ino)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.end()
	}
	return errno
}

func toErrno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EIO
}
