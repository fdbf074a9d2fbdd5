// Package aof restores the append-only file of a Redis server to an earlier state: what is
// left after a power loss, or an old snapshot.
//
// The file only grows, so a state of it is a length, and to restore it is to truncate the
// file while the server is down. The lengths are recorded from outside, without asking the
// server.
package aof

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// OldestVersion is the oldest version of Redis that writes the file where this package
// truncates it.
const OldestVersion = "7.0"

// name is the path of the file below the server's directory, as Redis 7 names it and as
// long as the server has not rewritten it.
var name = filepath.Join("appendonlydir", "appendonly.aof.1.incr.aof")

// replicationDump is the file in which a server writes its keys for its replicas.
const replicationDump = "dump.rdb"

// File is the append-only file of one server, over all restarts.
type File struct {
	dir string // the server's

	mu       sync.Mutex
	syncing  bool     // Watch.SyncFrom was called
	syncs    []sizeAt // its size at the latest syncs, by time
	journal  []sizeAt // its sizes by time, see Watch.Journal
	restored bool     // the server starts with this content, even if it keeps nothing else over restarts
}

// sizeAt is the size of the file in bytes from a time on.
type sizeAt struct {
	since time.Time
	bytes int64
}

// In returns the file of a server that works in dir. The file need not exist yet.
func In(dir string) *File { return &File{dir: dir} }

func (f *File) path() string { return filepath.Join(f.dir, name) }

// Writable returns an error unless the file exists and we may truncate it.
func (f *File) Writable() error {
	file, err := os.OpenFile(f.path(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// Synced returns how many bytes were on the disk at the last sync.
func (f *File) Synced() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.syncedBy(time.Now())
}

// syncedBy returns how many bytes were on the disk at a time.
func (f *File) syncedBy(at time.Time) (bytes int64) {
	for _, s := range f.syncs {
		if !s.since.After(at) {
			bytes = s.bytes
		}
	}
	return bytes
}

// written returns the size of the file in bytes, 0 if there is none.
func (f *File) written() int64 {
	info, err := os.Stat(f.path())
	if err != nil {
		return 0
	}
	return info.Size()
}

// recordSize adds the current size to the journal.
func (f *File) recordSize() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if bytes := f.written(); len(f.journal) == 0 || f.journal[len(f.journal)-1].bytes != bytes {
		f.journal = append(f.journal, sizeAt{time.Now(), bytes})
	}
}

// recordSync records that everything in the file is on the disk now.
func (f *File) recordSync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addSync(time.Now())
}

// syncHistory is how long a sync is remembered after the next one. A disk that has been
// stuck since then holds nothing newer.
const syncHistory = 4 * time.Second

// addSync adds the current size as the one on the disk since at.
func (f *File) addSync(at time.Time) {
	f.syncs = append(f.syncs, sizeAt{at, f.written()})
	for len(f.syncs) > 1 && at.Sub(f.syncs[1].since) > syncHistory {
		f.syncs = f.syncs[1:]
	}
}

// Loss describes how a machine loses power.
type Loss struct {
	Stuck time.Duration // how long no sync had completed, up to two seconds
	Torn  bool          // the file ends within a record
}

// LosePower kills the server by calling kill and removes what was not on the disk. kill
// reports whether the server was running; if not, the file stays as it is.
func (f *File) LosePower(l Loss, kill func() bool) error {
	left := f.onDisk(time.Now().Add(-l.Stuck)) // before the kill: while the disk is busy it takes so long that old syncs are forgotten
	if !kill() {
		return nil
	}
	if err := f.cutTo(left); err != nil || !l.Torn {
		return err
	}
	return f.tear()
}

// everything is more than any file has.
const everything = math.MaxInt64

// onDisk returns how many bytes were on the disk at a time: everything, unless [Watch.SyncFrom] was
// called.
func (f *File) onDisk(at time.Time) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.syncing {
		return everything
	}
	return f.syncedBy(at)
}

// cutTo truncates the file. The server has to be down.
func (f *File) cutTo(bytes int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut(bytes)
}

// tornRecord is the beginning of a record.
const tornRecord = "*3\r\n$3\r\nSET\r\n$9\r\nth"

// tear makes the file end within a record, as a disk leaves it that wrote only a part. That
// record was not acknowledged, or not synced.
func (f *File) tear() (err error) {
	file, err := os.OpenFile(f.path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(tornRecord)
	return err
}

// Restore kills the server as LosePower does. Its next start finds the state of age ago.
func (f *File) Restore(age time.Duration, kill func() bool) error {
	then := time.Now().Add(-age) // the kill takes a while
	if !kill() {
		return nil
	}
	return f.CutBack(then)
}

// CutBack restores the file's state at a time, according to the journal. The server has to
// be down, and starts with that state even if it keeps nothing over restarts.
func (f *File) CutBack(to time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restored = true
	if len(f.journal) == 0 || f.journal[0].since.After(to) {
		return f.remove()
	}
	return f.cut(f.forgetAfter(to))
}

// Rewind is [File.CutBack] for a server that keeps running and reads the file again. The
// server must have written its buffer.
func (f *File) Rewind(to time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut(f.forgetAfter(to))
}

// forgetAfter removes what the journal has of later times, and returns the file's size at a time.
func (f *File) forgetAfter(to time.Time) (bytes int64) { // 0 before the first entry
	for i, l := range f.journal {
		if l.since.After(to) {
			f.journal = f.journal[:i]
			break
		}
		bytes = l.bytes
	}
	return bytes
}

// cut truncates the file. A file that is already shorter stays as it is.
func (f *File) cut(bytes int64) error {
	if f.written() > bytes {
		if err := os.Truncate(f.path(), bytes); err != nil {
			return err
		}
	}
	f.syncs = []sizeAt{{bytes: f.written()}}
	return nil
}

// Prepare has to be called before each start of the server. It removes the file unless the
// server keeps its keys or was restored. It always removes the dump of a replication: the
// server would load it.
func (f *File) Prepare(keeps bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.Remove(filepath.Join(f.dir, replicationDump)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if f.restored || keeps {
		f.restored = false
		return nil
	}
	return f.remove()
}

// remove deletes the file and its directory.
func (f *File) remove() error {
	f.journal = nil
	err := os.RemoveAll(filepath.Dir(f.path()))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Watch records the sizes of files in the background until it is closed.
type Watch struct {
	closed     chan struct{}
	background sync.WaitGroup
	closing    sync.Once
}

// NewWatch returns a watch without files.
func NewWatch() *Watch { return &Watch{closed: make(chan struct{})} }

// Close ends the watch and waits for its goroutines. A second Close does nothing.
func (w *Watch) Close() {
	w.closing.Do(func() { close(w.closed) })
	w.background.Wait()
}

// SyncFrom makes the file's content count as on the disk as of one instant each second,
// starting at phase. Only the first call counts.
//
// The kernel does not tell when it last synced a file, and a process that dies loses
// nothing that it has written. So this simulates a disk that is synced once a second. Redis
// allows for that loss, and for a little more.
func (w *Watch) SyncFrom(f *File, phase time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.syncing {
		return
	}
	f.syncing = true
	f.syncs = []sizeAt{{bytes: f.written()}} // from the beginning
	w.background.Go(func() {
		next := time.NewTimer(phase)
		defer next.Stop()
		for {
			select {
			case <-w.closed:
				return
			case <-next.C:
				next.Reset(time.Second)
				f.recordSync()
			}
		}
	})
}

// pollInterval is the time between two looks at a file. A restored state can be older than
// asked for by this much.
const pollInterval = 2 * time.Millisecond

// Journal records the sizes of files from now on, for [File.CutBack].
func (w *Watch) Journal(files []*File) {
	w.background.Go(func() {
		next := time.NewTicker(pollInterval)
		defer next.Stop()
		for {
			for _, f := range files {
				f.recordSize()
			}
			select {
			case <-w.closed:
				return
			case <-next.C:
			}
		}
	})
}
