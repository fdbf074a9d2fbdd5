//go:build linux

package redisserver

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Follow makes the server the asynchronous replica of the one at an address, and returns
// when it is in step.
func (s *Server) Follow(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if _, err := s.Do(ctx, "REPLICAOF", host, port); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
	defer cancel()
	for {
		role, err := s.Do(ctx, "ROLE") // "slave", host, port, state, offset
		if err != nil {
			return err
		}
		if told, ok := role.([]any); ok && len(told) == 5 && told[3] == "connected" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s has not become a replica of %s: %w", s.Addr(), addr, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
}

// Lead makes a replica follow nobody any more: it is a master, with what had come to it.
func (s *Server) Lead(ctx context.Context) error {
	_, err := s.Do(ctx, "REPLICAOF", "NO", "ONE")
	return err
}
