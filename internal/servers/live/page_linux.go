package live

import (
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/internal/world"
)

// page is memory that two processes share. One writes the clocks of a client to it; the
// client reads them. So the client sees a change at once, even if it was stopped.
type page struct {
	file   *os.File
	memory []byte
	*pageLayout
}

// pageLayout is the content of a page.
type pageLayout struct {
	version  atomic.Uint64 // odd while the page is written
	notified atomic.Uint64 // 1: the reader was notified and has not read since
	lines    [len(clockReadings{})][3]atomic.Int64
}

// newPage makes a page. It disappears when no process uses it.
func newPage() (*page, error) {
	fd, err := unix.MemfdCreate("lockstorm-clocks", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "clocks")
	if err := file.Truncate(int64(os.Getpagesize())); err != nil {
		_ = file.Close()
		return nil, err
	}
	return openPage(file)
}

// openPage opens the page of another process. Closing it closes file.
func openPage(file *os.File) (*page, error) {
	memory, err := unix.Mmap(int(file.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = file.Close()
		return nil, os.NewSyscallError("mmap", err)
	}
	return &page{file, memory, (*pageLayout)(unsafe.Pointer(&memory[0]))}, nil
}

// close unmaps the page. Nobody here reads it any more.
func (p *page) close() {
	_ = unix.Munmap(p.memory) // fails only if it is not mapped
	_ = p.file.Close()
}

// write writes the clocks that move returns. Readers wait until it is done. Only one
// goroutine may write.
func (p *page) write(move func() clockReadings) {
	p.version.Add(1)
	for i, clock := range move() {
		l := clock.Line()
		p.lines[i][0].Store(l.Ground)
		p.lines[i][1].Store(l.Shown)
		p.lines[i][2].Store(l.PPM)
	}
	p.version.Add(1)
}

// read returns the clocks, and the time at which they were valid.
func (p *page) read(now func() int64) (h clockReadings, at int64) {
	for {
		turn := p.version.Load()
		for i := range h {
			h[i] = world.ClockAlong(world.Line{Ground: p.lines[i][0].Load(), Shown: p.lines[i][1].Load(), PPM: p.lines[i][2].Load()})
		}
		at = now()
		if turn%2 == 0 && p.version.Load() == turn {
			return h, at
		}
		runtime.Gosched()
	}
}

// notify reports whether the reader has to be told of a change. It need not if it has not
// yet read since the last time.
func (p *page) notify() bool { return p.notified.CompareAndSwap(0, 1) }

// acknowledge says that the reader is about to read.
func (p *page) acknowledge() { p.notified.Store(0) }
