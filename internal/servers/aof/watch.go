package aof

import (
	"sync"
	"time"
)

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
