package aof

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/cluster/vetting"
)

// LeastVersion is the oldest Redis whose file lies where we cut it off.
var LeastVersion = vetting.Version{Major: 7}

// name is where a server appends, below its directory. Its parts are those of Redis 7 and
// of a server that has never rewritten it.
var name = filepath.Join("appendonlydir", "appendonly.aof.1.incr.aof")

// sent is where it writes what replicas are sent.
const sent = "dump.rdb"

// File is the append-only file of one server, over all its lives.
type File struct {
	dir string // the server's

	mu       sync.Mutex
	syncing  bool     // see Watch.SyncFrom
	synced   int64    // bytes
	journal  []length // by time, see Watch.Journal
	restored bool     // the server is to start with what is in it, whatever else it keeps
}

// length is that of the file from a time on, in bytes.
type length struct {
	since time.Time
	bytes int64
}

// In is the file of a server that works in a directory. It need not be there.
func In(dir string) *File { return &File{dir: dir} }

func (f *File) path() string { return filepath.Join(f.dir, name) }

// Writable returns an error unless the file is there, and may be cut by us.
func (f *File) Writable() error {
	file, err := os.OpenFile(f.path(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// Synced is how much of the file was on the disk at the last sync, in bytes.
func (f *File) Synced() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced
}

// written is how long the file is, in bytes; 0: there is none.
func (f *File) written() int64 {
	info, err := os.Stat(f.path())
	if err != nil {
		return 0
	}
	return info.Size()
}

// look enters the length of the file into its journal.
func (f *File) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if bytes := f.written(); len(f.journal) == 0 || f.journal[len(f.journal)-1].bytes != bytes {
		f.journal = append(f.journal, length{time.Now(), bytes})
	}
}

// sync says that what is in the file is on the disk.
func (f *File) sync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = f.written()
}

// LosePower has the server killed, and takes away what was not synced. kill reports whether
// there was something to kill: a file whose server is down stays as it is.
func (f *File) LosePower(kill func() bool) error {
	if !kill() {
		return nil
	}
	return f.CutUnsynced()
}

// Restore has the server killed, which is to start with what it had a time before now. kill
// is as for [File.LosePower].
func (f *File) Restore(age time.Duration, kill func() bool) error {
	then := time.Now().Add(-age) // and not before its end, which takes a while
	if !kill() {
		return nil
	}
	return f.CutBack(then)
}

// CutUnsynced cuts off what was not on the disk at the last sync; nothing, if
// [Watch.SyncFrom] has never said when that is. The server has to be down.
func (f *File) CutUnsynced() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.syncing {
		return nil
	}
	return f.cut(f.synced)
}

// CutBack takes the file back to what it was at a time, as far as its journal tells. The
// server has to be down, and starts with that, whatever it keeps otherwise.
func (f *File) CutBack(to time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restored = true
	i, exact := slices.BinarySearchFunc(f.journal, to, func(l length, t time.Time) int { return l.since.Compare(t) })
	if !exact {
		i--
	}
	if i < 0 {
		return f.forget()
	}
	f.journal = f.journal[:i+1]
	return f.cut(f.journal[i].bytes)
}

// cut makes the file so short. What has been cut off before does not come back.
func (f *File) cut(bytes int64) error {
	if f.written() <= bytes {
		return nil
	}
	return os.Truncate(f.path(), bytes)
}

// Prepare is to be called before a start of the server, which keeps what is in the file,
// or does not. What it has written to send it to a replica, or got as one, it would start
// with as well: that is gone in any case.
func (f *File) Prepare(keeps bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.Remove(filepath.Join(f.dir, sent)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if f.restored || keeps {
		f.restored = false
		return nil
	}
	return f.forget()
}

// forget removes the file, with what belongs to it.
func (f *File) forget() error {
	f.journal = nil
	err := os.RemoveAll(filepath.Dir(f.path()))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
