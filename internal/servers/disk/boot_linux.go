package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// boot is one mount of a disk, from when the power is switched on.
type boot struct {
	dir    string
	served chan struct{} // closed when nothing more is served
}

// maxWrite is the size of the largest request to read or write.
const maxWrite = 128 << 10

// switchOn mounts the disk. The library could do so itself, but then a process that is started meanwhile
// would inherit the device, and keep the mount working when this program has died.
func (d *Disk) switchOn() error {
	on := &boot{dir: d.dir, served: make(chan struct{})}
	under, err := fs.NewLoopbackRoot(d.files)
	if err != nil {
		return err
	}
	root := &node{LoopbackNode: under.(*fs.LoopbackNode), disk: d, on: on}
	fd, err := mount(d.dir)
	if err != nil {
		return explain(err)
	}
	options := &fs.Options{}
	options.MaxWrite = maxWrite
	options.DisableXAttrs = true
	options.NullPermissions = true
	options.MountOptions.Logger = log.New(io.Discard, "", 0) // it reports requests that a cut interrupts
	options.PanicHandler = func(cause any) fuse.Status {
		d.report(fmt.Errorf("the disk %s: panic: %v\n%s", d.dir, cause, debug.Stack()))
		return fuse.EIO
	}
	server, err := fuse.NewServer(fs.NewNodeFS(root, options), fmt.Sprintf("/dev/fd/%d", fd), &options.MountOptions)
	if err != nil {
		return errors.Join(err, unmount(d.dir))
	}
	d.set(on)
	go func() {
		defer close(on.served)
		server.Serve()
	}()
	if err := forbidPolling(d.dir); err != nil {
		return errors.Join(err, d.switchOff())
	}
	return nil
}

// mount mounts a file system on a directory, and returns what it is served through.
func mount(dir string) (fd int, err error) {
	fd, err = unix.Open(fuseDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: fuseDevice, Err: err}
	}
	// Servers may run as another user: PostgreSQL's do.
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d,allow_other,default_permissions,max_read=%d",
		fd, unix.S_IFDIR, os.Geteuid(), os.Getegid(), maxWrite)
	if err := unix.Mount("lockstorm", dir, "fuse.lockstorm", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		_ = unix.Close(fd)
		return 0, &os.PathError{Op: "mount", Path: dir, Err: err}
	}
	return fd, nil
}

// unmount ends a mount at once. Whatever waits for it gets an error.
func unmount(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
		return &os.PathError{Op: "unmount", Path: dir, Err: err}
	}
	return nil
}

// end unmounts the disk, and returns when nothing is served any more.
func (b *boot) end() error {
	if err := unmount(b.dir); err != nil {
		return err
	}
	<-b.served
	return nil
}

// forbidPolling makes the kernel learn that files cannot be polled. Go's runtime polls each file that it
// opens, and would wait for this program, in it, if it opened one of this disk.
func forbidPolling(dir string) error {
	path := filepath.Join(dir, ".polled")
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) // its answer does not matter
	return errors.Join(unix.Close(fd), unix.Unlink(path))
}

// node is a file or directory. What the loopback node can do and does not change what files contain
// is left to it.
type node struct {
	*fs.LoopbackNode
	disk *Disk
	on   *boot
}

var _ interface {
	fs.NodeWrapChilder
	fs.NodeOpener
	fs.NodeCreater
	fs.NodeTmpfiler
	fs.NodeSetattrer
	fs.NodeMknoder
	fs.NodeMkdirer
	fs.NodeRmdirer
	fs.NodeSymlinker
	fs.NodeLinker
	fs.NodeUnlinker
	fs.NodeRenamer
	fs.NodeCopyFileRanger
} = (*node)(nil)

// WrapChild makes each child a node.
func (n *node) WrapChild(_ context.Context, ops fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{LoopbackNode: ops.(*fs.LoopbackNode), disk: n.disk, on: n.on}
}

// path returns where a child of the node is stored.
func (n *node) path(name string) string {
	return filepath.Join(n.disk.files, n.Path(n.Root()), name)
}

// underlying returns the flags with which the stored file is opened. The kernel sends a sync
// after each write to a file with O_SYNC or O_DSYNC.
func underlying(flags uint32) uint32 { return flags & (unix.O_ACCMODE | unix.O_EXCL) }

// Open opens the file.
func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, _, errno := n.LoopbackNode.Open(ctx, underlying(flags)&unix.O_ACCMODE)
	if errno != 0 {
		return nil, 0, errno
	}
	f := n.handle(h)
	if flags&unix.O_TRUNC != 0 {
		errno = f.truncate()
	}
	return f, 0, errno
}

// Create creates a file, or opens it.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (child *fs.Inode, f fs.FileHandle, _ uint32, errno syscall.Errno) {
	errno = n.disk.while(n.on, func() syscall.Errno {
		var h fs.FileHandle
		child, h, _, errno = n.LoopbackNode.Create(ctx, name, underlying(flags), mode, out)
		if errno == 0 {
			f = n.handle(h)
		}
		return errno
	})
	if errno == 0 && flags&unix.O_TRUNC != 0 && out.Size > 0 {
		errno = f.(*file).truncate()
		out.Size = 0
	}
	return child, f, 0, errno
}

// Tmpfile is not supported: programs then create a file with a name.
func (n *node) Tmpfile(context.Context, uint32, uint32, *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.ENOSYS
}

// CopyFileRange is not supported: the kernel then reads and writes.
func (n *node) CopyFileRange(context.Context, fs.FileHandle, uint64, *fs.Inode, fs.FileHandle, uint64, uint64, uint64) (uint32, syscall.Errno) {
	return 0, syscall.ENOSYS
}

// Setattr changes attributes, or truncates the file.
func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	var under fs.FileHandle
	f, open := h.(*file)
	if open {
		under = f.under
	}
	do := func() syscall.Errno { return n.LoopbackNode.Setattr(ctx, under, in, out) }
	size, truncates := in.GetSize()
	if !truncates {
		return n.disk.while(n.on, do)
	}
	if open {
		return n.disk.changing(n.on, f.fd, int64(size), math.MaxInt64, do)
	}
	fd, err := unix.Open(n.path(""), unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return toErrno(err)
	}
	defer func() { _ = unix.Close(fd) }()
	return n.disk.changing(n.on, fd, int64(size), math.MaxInt64, do)
}

// Mknod creates a file without opening it.
func (n *node) Mknod(ctx context.Context, name string, mode, rdev uint32, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.disk.while(n.on, func() syscall.Errno {
		child, errno = n.LoopbackNode.Mknod(ctx, name, mode, rdev, out)
		return errno
	})
	return child, errno
}

// Mkdir creates a directory.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.disk.while(n.on, func() syscall.Errno {
		child, errno = n.LoopbackNode.Mkdir(ctx, name, mode, out)
		return errno
	})
	return child, errno
}

// Rmdir removes a directory.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.disk.while(n.on, func() syscall.Errno { return n.LoopbackNode.Rmdir(ctx, name) })
}

// Symlink creates a symbolic link.
func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.disk.while(n.on, func() syscall.Errno {
		child, errno = n.LoopbackNode.Symlink(ctx, target, name, out)
		return errno
	})
	return child, errno
}

// Link gives a file one more name.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.disk.while(n.on, func() syscall.Errno {
		child, errno = n.LoopbackNode.Link(ctx, target, name, out)
		return errno
	})
	return child, errno
}

// Unlink removes a name of a file.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.disk.while(n.on, func() syscall.Errno {
		return n.disk.removing(n.path(name), func() syscall.Errno { return n.LoopbackNode.Unlink(ctx, name) })
	})
}

// Rename gives a file or directory another name, and removes what had that.
func (n *node) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, is := parent.(*node)
	if !is {
		return syscall.EXDEV
	}
	rename := func() syscall.Errno { return n.LoopbackNode.Rename(ctx, name, to, newName, flags) }
	return n.disk.while(n.on, func() syscall.Errno {
		if flags != 0 { // nothing is removed
			return rename()
		}
		return n.disk.removing(to.path(newName), rename)
	})
}

// file is an open file.
type file struct {
	under *fs.LoopbackFile
	fd    int // of it
	disk  *Disk
	on    *boot
}

var _ interface {
	fs.FileReader
	fs.FileWriter
	fs.FileFlusher
	fs.FileFsyncer
	fs.FileReleaser
	fs.FileGetattrer
	fs.FileLseeker
	fs.FileAllocater
} = (*file)(nil)

func (n *node) handle(h fs.FileHandle) *file {
	under := h.(*fs.LoopbackFile)
	fd, _ := under.PassthroughFd()
	return &file{under: under, fd: fd, disk: n.disk, on: n.on}
}

func (f *file) truncate() syscall.Errno {
	return f.disk.changing(f.on, f.fd, 0, math.MaxInt64, func() syscall.Errno { return toErrno(unix.Ftruncate(f.fd, 0)) })
}

func (f *file) Read(ctx context.Context, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	return f.under.Read(ctx, into, at)
}

func (f *file) Write(ctx context.Context, data []byte, at int64) (n uint32, errno syscall.Errno) {
	if f.disk.filled.Load() {
		return 0, syscall.ENOSPC
	}
	errno = f.disk.changing(f.on, f.fd, at, at+int64(len(data)), func() syscall.Errno {
		n, errno = f.under.Write(ctx, data, at)
		return errno
	})
	return n, errno
}

// Fsync syncs the file, or only its content and size.
func (f *file) Fsync(_ context.Context, flags uint32) syscall.Errno {
	const dataOnly = 1
	how := unix.Fsync
	if flags&dataOnly != 0 {
		how = unix.Fdatasync
	}
	return f.disk.sync(f.on, f.fd, func() syscall.Errno { return toErrno(how(f.fd)) })
}

// Allocate reserves space, or makes a hole.
func (f *file) Allocate(ctx context.Context, at, size uint64, mode uint32) syscall.Errno {
	if mode&^(unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		return syscall.EOPNOTSUPP
	}
	return f.disk.changing(f.on, f.fd, int64(at), int64(at+size), func() syscall.Errno { return f.under.Allocate(ctx, at, size, mode) })
}

func (f *file) Flush(ctx context.Context) syscall.Errno   { return f.under.Flush(ctx) }
func (f *file) Release(ctx context.Context) syscall.Errno { return f.under.Release(ctx) }

func (f *file) Getattr(ctx context.Context, out *fuse.AttrOut) syscall.Errno {
	return f.under.Getattr(ctx, out)
}

func (f *file) Lseek(ctx context.Context, at uint64, whence uint32) (uint64, syscall.Errno) {
	return f.under.Lseek(ctx, at, whence)
}
