//go:build linux

package redisserver

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A server can be taken back to a time before by the length that its append-only file had
// then: the rest is cut off. For that the file is written even if nothing is to be kept,
// and how long it is is looked up all the time; what a crash is not to leave is removed
// before the next start.

// lookEvery is the time between two looks: by so much a state can be too old.
const lookEvery = 2 * time.Millisecond

// length is that of the append-only file from a time on, in bytes.
type length struct {
	since time.Time
	bytes int64
}

// keepJournals looks up the lengths of all servers' files until the fleet is closed.
func (f *Fleet) keepJournals() {
	f.background.Go(func() {
		next := time.NewTicker(lookEvery)
		defer next.Stop()
		for {
			for _, s := range f.servers {
				s.look()
			}
			select {
			case <-f.closed:
				return
			case <-next.C:
			}
		}
	})
}

func (s *Server) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return
	}
	if bytes := s.written(); len(s.journal) == 0 || s.journal[len(s.journal)-1].bytes != bytes {
		s.journal = append(s.journal, length{time.Now(), bytes})
	}
}

// Restore kills the server, which is to start with what it had a time before. It is for
// servers with [Options.Journal]. A server that is down stays so.
func (s *Server) Restore(age time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil
	}
	then := time.Now().Add(-age)
	s.now.kill()
	s.now = nil
	s.restored = true
	i, exact := slices.BinarySearchFunc(s.journal, then, func(l length, t time.Time) int { return l.since.Compare(t) })
	if !exact {
		i--
	}
	if i < 0 {
		return s.forget()
	}
	s.journal = s.journal[:i+1]
	return os.Truncate(filepath.Join(s.dir, appendOnlyFile), s.journal[i].bytes)
}

// forget removes the append-only file.
func (s *Server) forget() error {
	s.journal = nil
	err := os.RemoveAll(filepath.Join(s.dir, filepath.Dir(appendOnlyFile)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
