package live

import (
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/internal/world"
)

// page is memory that two processes have in common: one shows on it how the clocks of a
// client run, the other, the client, reads it. So a change is seen as soon as it is made,
// also by who stands still meanwhile.
type page struct {
	file   *os.File
	memory []byte
	*pageLayout
}

// pageLayout is what stands on a page.
type pageLayout struct {
	version  atomic.Uint64 // is odd while it is written
	notified atomic.Uint64 // 1: there is a ring that has not been heard
	lines    [len(clockReadings{})][3]atomic.Int64
}

// newPage makes a page of which nothing is left when nobody has it any more.
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

// openPage opens the page of another process. It is closed with it.
func openPage(file *os.File) (*page, error) {
	memory, err := unix.Mmap(int(file.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = file.Close()
		return nil, os.NewSyscallError("mmap", err)
	}
	return &page{file, memory, (*pageLayout)(unsafe.Pointer(&memory[0]))}, nil
}

// close takes the page back. Nobody here looks at it any more.
func (p *page) close() {
	_ = unix.Munmap(p.memory) // fails only if it is no such memory
	_ = p.file.Close()
}

// write shows what move makes of the clocks. Whoever looks meanwhile waits until that is
// there. Only one writes at a time.
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

// read returns how the clocks run, and the time at which they did so.
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

// notify reports whether the reader has to be told that something has changed: it has not, if
// it has still to hear of the last time.
func (p *page) notify() bool { return p.notified.CompareAndSwap(0, 1) }

// acknowledge says that the reader is about to look.
func (p *page) acknowledge() { p.notified.Store(0) }
