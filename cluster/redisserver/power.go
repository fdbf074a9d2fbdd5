//go:build linux

package redisserver

import (
	"os"
	"path/filepath"
	"time"
)

// A process that dies loses nothing that it has written: the kernel has it. To show what
// a machine loses that has no power, the end of the append-only file is cut off that was
// not synced. When it was last synced the kernel tells nobody; so we keep an account of
// our own of what a disk that is synced once a second would have: how long the file was
// at each second from a phase on. That is a loss that Redis allows for, and a little less
// than the greatest.

// appendOnlyFile is where a server appends, below its directory. Its parts are those of a
// server that has never rewritten it.
var appendOnlyFile = filepath.Join("appendonlydir", "appendonly.aof.1.incr.aof")

// SyncFrom says that from a phase on, once a second, what the server has written is on
// its disk, and no earlier. It is for servers with [Options.EverySecond]; of several
// phases the first counts.
func (s *Server) SyncFrom(phase time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.syncing {
		return
	}
	s.syncing, s.synced = true, s.written()
	s.fleet.background.Go(func() {
		next := time.NewTimer(phase)
		defer next.Stop()
		for {
			select {
			case <-s.fleet.closed:
				return
			case <-next.C:
				next.Reset(time.Second)
				s.mu.Lock()
				s.synced = s.written()
				s.mu.Unlock()
			}
		}
	})
}

// written is how long the append-only file is, in bytes; 0: there is none.
func (s *Server) written() int64 {
	info, err := os.Stat(filepath.Join(s.dir, appendOnlyFile))
	if err != nil {
		return 0
	}
	return info.Size()
}

// LosePower ends the server and takes away what was not synced. A server that is down
// stays so.
func (s *Server) LosePower() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil
	}
	s.now.kill()
	s.now = nil
	if !s.fleet.options.EverySecond {
		return nil // nothing is kept, or all is synced that was acknowledged
	}
	return os.Truncate(filepath.Join(s.dir, appendOnlyFile), s.synced)
}

// Synced is how much of the append-only file was on the disk at the last sync, in bytes.
func (s *Server) Synced() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced
}
