//go:build linux

package container

import (
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
)

// SyncFrom says that from a phase on, once a second, what the server has written is on
// its disk, and no earlier. It is for servers with [Options.Power]; of several phases the
// first counts. Without it all is synced that was acknowledged.
func (s *Server) SyncFrom(phase time.Duration) { s.fleet.watch.SyncFrom(s.file, phase) }

// LosePower ends the server and takes away what was not synced. A server that is down
// stays so.
func (s *Server) LosePower(l aof.Loss) error { return s.file.LosePower(l, s.kill) }

// Restore kills the server, which is to start with what it had a time before. It is for
// servers with [Options.Journal]. A server that is down stays so.
func (s *Server) Restore(age time.Duration) error { return s.file.Restore(age, s.kill) }
