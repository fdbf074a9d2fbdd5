//go:build linux

package redisserver

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Rewind gives a server that stands still the keys that it had at a time, and lets it go
// on: with the same process, and so in the same run. It is for servers with
// [Options.Rewind], and reads its append-only file again, by DEBUG LOADAOF. A server that is
// down stays so.
func (s *Server) Rewind(ctx context.Context, then time.Time) error {
	if err := s.Continue(); err != nil || s.Pid() == 0 {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
	defer cancel()
	if err := s.flush(ctx); err != nil {
		return err
	}
	if err := s.file.Rewind(then); err != nil {
		return err
	}
	_, err := s.Do(ctx, "DEBUG", "LOADAOF")
	return err
}

// flush waits until the server has written what it had answered.
func (s *Server) flush(ctx context.Context) error {
	for {
		info, err := s.Do(ctx, "INFO", "persistence")
		if err != nil || strings.Contains(fmt.Sprint(info), "\naof_buffer_length:0") {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s does not write its append-only file: %w", s.Addr(), context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
}
