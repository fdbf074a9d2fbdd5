// Package aof takes the append-only file of a Redis server back to what it was before: to
// show what a machine loses that has no power, or a server that starts from an old state.
//
// A file only grows, so that a state of it is a length, and to go back is to cut the rest
// off while the server is down. What the lengths were is looked up from outside, without
// a word to the server.
package aof

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/preflight"
)

// LeastVersion is the oldest Redis whose file lies where we cut it off.
var LeastVersion = preflight.Version{Major: 7}

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
	syncs    []length // the file as of its latest syncs, by time; see Watch.SyncFrom
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
	return f.syncedBy(time.Now())
}

// syncedBy is how much had been on the disk at a time.
func (f *File) syncedBy(at time.Time) (bytes int64) {
	for _, s := range f.syncs {
		if !s.since.After(at) {
			bytes = s.bytes
		}
	}
	return bytes
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
	f.enterSync(time.Now())
}

// syncsKept is how long a state is kept that a later sync has replaced: a disk that has
// been stuck since then has no other.
const syncsKept = 4 * time.Second

// enterSync notes what is on the disk from a time on.
func (f *File) enterSync(at time.Time) {
	f.syncs = append(f.syncs, length{at, f.written()})
	for len(f.syncs) > 1 && at.Sub(f.syncs[1].since) > syncsKept {
		f.syncs = f.syncs[1:]
	}
}

// Loss is how a machine loses its power.
type Loss struct {
	Stuck time.Duration // for so long no sync had completed, up to two seconds
	Torn  bool          // the file ends within a record
}

// LosePower has the server killed, and takes away what was not synced. kill reports whether
// there was something to kill: a file whose server is down stays as it is.
func (f *File) LosePower(l Loss, kill func() bool) error {
	at := time.Now() // and not after its end, which takes a while
	if !kill() {
		return nil
	}
	if err := f.CutUnsynced(at.Add(-l.Stuck)); err != nil || !l.Torn {
		return err
	}
	return f.tear()
}

// torn is the begin of a record.
const torn = "*3\r\n$3\r\nSET\r\n$9\r\nth"

// tear lets the file end within a record, as a disk leaves it that had written only a part
// of it. That record was not acknowledged, or not synced.
func (f *File) tear() (err error) {
	file, err := os.OpenFile(f.path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(torn)
	return err
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

// CutUnsynced cuts off what was not on the disk at a time; nothing, if [Watch.SyncFrom] has
// never said when that is. The server has to be down. What it had read from the disk
// before stays.
func (f *File) CutUnsynced(at time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.syncing {
		return nil
	}
	return f.cut(f.syncedBy(at))
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

// Rewind is [File.CutBack] for a server that goes on and reads the file again. It must have
// written all that it has to write.
func (f *File) Rewind(to time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var bytes int64 // nothing, before the first look
	for i, l := range f.journal {
		if l.since.After(to) {
			f.journal = f.journal[:i]
			break
		}
		bytes = l.bytes
	}
	return f.cut(bytes)
}

// cut makes the file so short. What has been cut off before does not come back.
func (f *File) cut(bytes int64) error {
	if f.written() > bytes {
		if err := os.Truncate(f.path(), bytes); err != nil {
			return err
		}
	}
	f.syncs = []length{{bytes: f.written()}}
	return nil
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

// Watch looks at files until it is closed.
type Watch struct {
	closed     chan struct{}
	background sync.WaitGroup
	closing    sync.Once
}

// NewWatch returns one that looks at nothing yet.
func NewWatch() *Watch { return &Watch{closed: make(chan struct{})} }

// Close ends it, and returns when it has ended. A second Close does nothing.
func (w *Watch) Close() {
	w.closing.Do(func() { close(w.closed) })
	w.background.Wait()
}

// SyncFrom says that from a phase on, once a second, what the server has written is on
// its disk, and no earlier. Of several phases the first counts.
//
// A process that dies loses nothing that it has written: the kernel has it. When a file
// was last synced the kernel tells nobody; so this is an account of our own of what a
// disk that is synced once a second would have. That is a loss that Redis allows for, and
// a little less than the greatest.
func (w *Watch) SyncFrom(f *File, phase time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.syncing {
		return
	}
	f.syncing = true
	f.syncs = []length{{bytes: f.written()}} // since ever
	w.background.Go(func() {
		next := time.NewTimer(phase)
		defer next.Stop()
		for {
			select {
			case <-w.closed:
				return
			case <-next.C:
				next.Reset(time.Second)
				f.sync()
			}
		}
	})
}

// lookEvery is the time between two looks at a file: by so much a state can be too old.
const lookEvery = 2 * time.Millisecond

// Journal keeps journals of the files' lengths from now on, for [File.CutBack].
func (w *Watch) Journal(files []*File) {
	w.background.Go(func() {
		next := time.NewTicker(lookEvery)
		defer next.Stop()
		for {
			for _, f := range files {
				f.look()
			}
			select {
			case <-w.closed:
				return
			case <-next.C:
			}
		}
	})
}
