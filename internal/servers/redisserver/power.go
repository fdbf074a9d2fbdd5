//go:build linux

package redisserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
)

// SyncFrom says that from a phase on, once a second, what the server has written is on
// its disk, and no earlier. It is for servers with [Options.EverySecond]; of several
// phases the first counts. Without it all is synced that was acknowledged.
func (s *Server) SyncFrom(phase time.Duration) { s.fleet.watch.SyncFrom(s.file, phase) }

// Synced is how much of the append-only file was on the disk at the last sync, in bytes.
func (s *Server) Synced() int64 { return s.file.Synced() }

// LosePower ends the server and takes away what was not synced. A server that is down
// stays so.
func (s *Server) LosePower(l aof.Loss) error { return s.file.LosePower(l, s.kill) }

// Restore kills the server, which is to start with what it had a time before. It is for
// servers with [Options.Journal]. A server that is down stays so.
func (s *Server) Restore(age time.Duration) error { return s.file.Restore(age, s.kill) }

// refusal is what Redis says of a file that ends within a record, with
// aof-load-truncated no.
const refusal = "Unexpected end of file reading the append only file"

// Refuse starts the server with aof-load-truncated no, and returns when it has refused its
// file, which [Server.LosePower] has torn, and is gone. It is an error if the server does
// anything else.
func (s *Server) Refuse(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		return fmt.Errorf("redis-server on %s is already running", s.Addr())
	}
	if err := s.port.Vacant(); err != nil {
		return err
	}
	p, err := s.fleet.launch(s, func(error) {}, "--aof-load-truncated", "no")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("redis-server on %s does not refuse its torn file (%w); the end of its log:\n%s", s.Addr(), context.Cause(ctx), p.Log())
	}
	if !strings.Contains(p.Log(), refusal) {
		return fmt.Errorf("redis-server on %s: want a refusal of the torn file: %w", s.Addr(), p.death)
	}
	return nil
}
