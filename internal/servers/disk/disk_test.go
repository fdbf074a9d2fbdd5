//go:build linux

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// mounted returns a disk that is closed with the test. The test is skipped where there can be none.
func mounted(t rapid.TB, dir string) *Disk {
	t.Helper()
	d, err := Mount(filepath.Join(dir, "disk"), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t *testing.T) *Disk {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
	d := mounted(t, t.TempDir())
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// modelFile is a file as it is, and as it was at its last sync.
type modelFile struct{ now, synced []byte }

// model is what a directory contains.
type model map[string]*modelFile

func (m model) names() []string { return slices.Sorted(maps.Keys(m)) }

// cut is a cut of the power.
func (m model) cut() {
	for _, f := range m {
		f.now = f.synced
	}
}

// write returns the content after a write.
func write(content, data []byte, at int) []byte {
	changed := make([]byte, max(len(content), at+len(data)))
	copy(changed, content)
	copy(changed[at:], data)
	return changed
}

// resize returns the content with another size.
func resize(content []byte, size int) []byte {
	changed := make([]byte, size)
	copy(changed, content)
	return changed
}

// After any writes, truncations, renames, removals and syncs, and cuts of the power between them, each
// file has its content, and after a cut that of its last sync.
func TestFilesAreAsAtTheirLastSync(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	dirs := 0
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dirs++
		dir := filepath.Join(parent, fmt.Sprint(dirs))
		must(t, os.Mkdir(dir, 0o700))
		d := mounted(t, dir)
		defer func() { must(t, d.Close()) }()
		m := model{}
		t.Repeat(map[string]func(*rapid.T){
			"":         func(t *rapid.T) { m.compare(t, d.Dir()) },
			"write":    func(t *rapid.T) { m.write(t, d.Dir(), 0) },
			"append":   func(t *rapid.T) { m.append(t, d.Dir()) },
			"dsync":    func(t *rapid.T) { m.write(t, d.Dir(), os.O_SYNC) },
			"truncate": func(t *rapid.T) { m.truncate(t, d.Dir()) },
			"replace":  func(t *rapid.T) { m.replace(t, d.Dir()) },
			"rename":   func(t *rapid.T) { m.rename(t, d.Dir()) },
			"remove":   func(t *rapid.T) { m.remove(t, d.Dir()) },
			"sync":     func(t *rapid.T) { m.sync(t, d.Dir()) },
			"cut":      func(t *rapid.T) { must(t, d.Cut()); m.cut() },
			"syncAll": func(*rapid.T) {
				d.SyncAll()
				for _, f := range m {
					f.synced = f.now
				}
			},
		})
	})
}

// size is a size, or an offset, of some blocks.
var size = rapid.IntRange(0, 3*blockSize+100)

// bytesOf draws bytes without zeros, which a hole has.
func bytesOf(t *rapid.T) []byte {
	n := rapid.IntRange(0, 2*blockSize+1).Draw(t, "bytes")
	return bytes.Repeat([]byte{byte(rapid.IntRange(1, 255).Draw(t, "byte"))}, n)
}

func nameOf(t *rapid.T) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name") }

func (m model) compare(t *rapid.T, dir string) {
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		if f := m[e.Name()]; f != nil && !bytes.Equal(content, f.now) {
			t.Fatalf("%s has %d bytes, not the %d that are right, or others", e.Name(), len(content), len(f.now))
		}
	}
	if !slices.Equal(names, m.names()) {
		t.Fatalf("there are %q, not %q", names, m.names())
	}
}

func (m model) of(name string) *modelFile {
	if m[name] == nil {
		m[name] = &modelFile{}
	}
	return m[name]
}

func (m model) write(t *rapid.T, dir string, flag int) {
	name, data, at := nameOf(t), bytesOf(t), size.Draw(t, "at")
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|flag, 0o600)
	must(t, err)
	_, err = f.WriteAt(data, int64(at))
	must(t, err)
	must(t, f.Close())
	of := m.of(name)
	if len(data) == 0 { // changes and syncs nothing
		return
	}
	of.now = write(of.now, data, at)
	if flag != 0 {
		of.synced = of.now
	}
}

func (m model) append(t *rapid.T, dir string) {
	name, data := nameOf(t), bytesOf(t)
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(t, err)
	_, err = f.Write(data)
	must(t, err)
	must(t, f.Close())
	of := m.of(name)
	of.now = write(of.now, data, len(of.now))
}

func (m model) truncate(t *rapid.T, dir string) {
	name, to := nameOf(t), size.Draw(t, "size")
	err := os.Truncate(filepath.Join(dir, name), int64(to))
	if m[name] == nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return
	}
	must(t, err)
	m[name].now = resize(m[name].now, to)
}

// replace truncates a file when it opens it.
func (m model) replace(t *rapid.T, dir string) {
	name, data := nameOf(t), bytesOf(t)
	must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	m.of(name).now = data
}

func (m model) rename(t *rapid.T, dir string) {
	from, to := nameOf(t), nameOf(t)
	err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to))
	if m[from] == nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return
	}
	must(t, err)
	if from != to {
		m[to] = m[from]
		delete(m, from)
	}
}

func (m model) remove(t *rapid.T, dir string) {
	name := nameOf(t)
	err := os.Remove(filepath.Join(dir, name))
	if m[name] == nil != errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	delete(m, name)
}

func (m model) sync(t *rapid.T, dir string) {
	name := nameOf(t)
	if m[name] == nil {
		return
	}
	f, err := os.Open(filepath.Join(dir, name))
	must(t, err)
	how := rapid.SampledFrom([]func(int) error{unix.Fsync, unix.Fdatasync}).Draw(t, "how")
	must(t, how(int(f.Fd())))
	must(t, f.Close())
	m[name].synced = m[name].now
}

// contents returns what a file of the disk contains.
func contents(t *testing.T, d *Disk, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.Dir(), name))
	must(t, err)
	return string(text)
}

// Each fsync, fdatasync and synchronous write counts as one sync, and nothing else does.
func TestSyncsAreCounted(t *testing.T) {
	d := open(t)
	f, err := os.Create(filepath.Join(d.Dir(), "a"))
	must(t, err)
	counts := func(what string, want int64, do func() error) {
		before := d.Syncs()
		must(t, do())
		if got := d.Syncs() - before; got != want {
			t.Errorf("%s: %d syncs, want %d", what, got, want)
		}
	}
	counts("write", 0, func() error { _, err := f.WriteString("x"); return err })
	counts("fsync", 1, f.Sync)
	counts("fdatasync", 1, func() error { return unix.Fdatasync(int(f.Fd())) })
	for name, flag := range map[string]int{"O_SYNC": unix.O_SYNC, "O_DSYNC": unix.O_DSYNC} {
		synced, err := os.OpenFile(f.Name(), os.O_WRONLY|flag, 0)
		must(t, err)
		counts(name, 1, func() error { _, err := synced.WriteString("y"); return err })
		must(t, synced.Close())
	}
	counts("close", 0, f.Close)
}

// What a process writes through a mapping is as at the last msync, whether it unmaps the file or is killed.
func TestMappedFiles(t *testing.T) {
	for _, end := range []string{"unmaps", "is killed"} {
		d := open(t)
		o := testkit.StartOrphan(t, end, mappedVariable+"="+filepath.Join(d.Dir(), "a"))
		o.Kill(t)
		must(t, d.Cut())
		if got := contents(t, d, "a"); len(got) != 2*blockSize || got[:2] != "x\x00" || got[blockSize] != 'y' {
			t.Errorf("it %s: %d bytes, beginning with %q", end, len(got), got[:min(len(got), 2)])
		}
	}
}

// writeMapped writes a file through a mapping. It runs in another process: one that waits for a page of a
// disk that it serves itself waits for ever if its garbage is collected meanwhile.
func writeMapped(path string, unmap bool) error {
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Truncate(2*blockSize), f.Sync())
	}
	if err != nil {
		return err
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, 2*blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	memory[0], memory[blockSize] = 'x', 'y'
	err = unix.Msync(memory, unix.MS_SYNC)
	memory[0], memory[1] = 'z', 'z'
	if unmap {
		err = errors.Join(err, unix.Munmap(memory), f.Close())
	}
	return err
}

// A process that had a file open gets an error after the cut, and changes nothing.
func TestOpenFilesAreLost(t *testing.T) {
	d := open(t)
	f, err := os.Create(filepath.Join(d.Dir(), "a"))
	must(t, err)
	must(t, d.Cut())
	if _, err := f.WriteString("x"); err == nil {
		if err = f.Sync(); err == nil {
			t.Error("a file from before the cut could be written")
		}
	}
	_ = f.Close()
	if got := contents(t, d, "a"); got != "" {
		t.Errorf("%q was written after the cut", got)
	}
}

// A request that came before the cut, and is carried out after it, changes nothing.
func TestLateRequests(t *testing.T) {
	d := open(t)
	before := d.on
	must(t, d.Cut())
	if errno := d.while(before, func() syscall.Errno { t.Error("it is carried out"); return 0 }); errno != syscall.EIO {
		t.Errorf("the reply is %v", errno)
	}
}

// A file that was removed while it is open can be used, and leaves nothing.
func TestRemovedFiles(t *testing.T) {
	d := open(t)
	f, err := os.Create(filepath.Join(d.Dir(), "a"))
	must(t, err)
	_, err = f.WriteString("text")
	must(t, err)
	must(t, os.Remove(f.Name()))
	_, err = f.WriteAt([]byte("n"), 0)
	must(t, err)
	text := make([]byte, 4)
	if _, err := f.ReadAt(text, 0); err != nil || string(text) != "next" {
		t.Errorf("%q, %v", text, err)
	}
	must(t, f.Close())
	must(t, d.Cut())
	if left, err := os.ReadDir(d.Dir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A file that is renamed over another one without a sync is empty after a cut, as the package says.
func TestRenamedWithoutASync(t *testing.T) {
	d := open(t)
	path := filepath.Join(d.Dir(), "a")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	d.SyncAll()
	must(t, os.WriteFile(path+".new", []byte("new"), 0o600))
	must(t, os.Rename(path+".new", path))
	must(t, d.Cut())
	if got := contents(t, d, "a"); got != "" {
		t.Errorf("it contains %q", got)
	}
}

// Holes and reserved space are taken back.
func TestAllocatedSpace(t *testing.T) {
	d := open(t)
	path := filepath.Join(d.Dir(), "a")
	text := bytes.Repeat([]byte("x"), 2*blockSize)
	must(t, os.WriteFile(path, text, 0o600))
	d.SyncAll()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	must(t, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, blockSize))
	must(t, unix.Fallocate(int(f.Fd()), 0, 0, 5*blockSize))
	if err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_COLLAPSE_RANGE, 0, blockSize); !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("bytes can be moved: %v", err)
	}
	must(t, f.Close())
	if got := contents(t, d, "a"); len(got) != 5*blockSize || got[0] != 0 {
		t.Fatalf("%d bytes, beginning with %q", len(got), got[:1])
	}
	must(t, d.Cut())
	if got := contents(t, d, "a"); got != string(text) {
		t.Errorf("%d bytes, beginning with %q", len(got), got[:1])
	}
}

// A full disk refuses writes, and keeps what it has.
func TestFullDisk(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	d, err := Mount(filepath.Join(t.TempDir(), "disk"), func(err error) { t.Error(err) })
	must(t, err)
	defer func() { must(t, d.Close()) }()
	path := filepath.Join(d.Dir(), "a")
	f, err := os.Create(path)
	must(t, err)
	defer func() { _ = f.Close() }()
	write := func(text string) error {
		_, err := f.WriteString(text)
		return err
	}
	must(t, write("old"))
	d.Fill(true)
	if err := write("new"); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
	d.Fill(false)
	must(t, write(" and new"))
	if got := contents(t, d, "a"); got != "old and new" {
		t.Errorf("got %q", got)
	}
}

// A change whose old content does not fit is refused and reported once, and what is remembered stays right.
func TestTooMuchToRemember(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	reported := make(chan error, 2)
	d, err := Mount(filepath.Join(t.TempDir(), "disk"), func(err error) { reported <- err })
	must(t, err)
	defer func() { must(t, d.Close()) }()
	d.old.left.Store(blockSize)
	path := filepath.Join(d.Dir(), "a")
	old := bytes.Repeat([]byte("x"), 2*blockSize)
	must(t, os.WriteFile(path, old, 0o600))
	d.SyncAll()
	for range 2 {
		if err := os.WriteFile(path, []byte("new"), 0o600); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("got %v", err)
		}
	}
	if err := <-reported; !errors.Is(err, errFull) || len(reported) > 0 {
		t.Errorf("reported: %v, and %d more", err, len(reported))
	}
	must(t, d.Cut())
	if got := contents(t, d, "a"); got != string(old) {
		t.Errorf("%d bytes", len(got))
	}
	if left := d.old.left.Load(); left != blockSize {
		t.Errorf("%d bytes are left, not all", left)
	}
}

// Where something is missing, one line says what, and how to get it.
func TestWhatIsMissingIsReported(t *testing.T) {
	for cause, advice := range map[error]string{
		unix.ENOENT: "modprobe fuse", unix.ENODEV: "--device /dev/fuse",
		unix.EPERM: "run as root", unix.EACCES: "--cap-add SYS_ADMIN",
	} {
		err := explain(&os.PathError{Op: "open", Path: fuseDevice, Err: cause})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), advice) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want %s", cause, err, advice)
		}
	}
	if err := explain(unix.EIO); !errors.Is(err, unix.EIO) || strings.Contains(err.Error(), "root") {
		t.Errorf("another error became %v", err)
	}
}
