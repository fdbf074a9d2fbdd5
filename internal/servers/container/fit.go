//go:build linux

package container

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// unstarted says why the engine does not start a container.
func (s *Server) unstarted(err error) error {
	err = oneLine(err)
	switch text := err.Error(); {
	case strings.Contains(text, "already allocated"), strings.Contains(text, "address already in use"):
		return fmt.Errorf("another program has taken %s: %w", s.Addr(), err)
	case strings.Contains(text, "executable file not found"):
		return s.absent(err)
	default:
		return fmt.Errorf("the container of the image %s on %s does not start: %w", s.fleet.image, s.Addr(), err)
	}
}

func (s *Server) absent(err error) error {
	return fmt.Errorf("the image %s has no redis-server in its PATH: %w", s.fleet.image, err)
}

// commandNotFound is the status with which a shell ends that finds no such program. A
// program that lacks a library ends with it as well.
const commandNotFound = 127

// unready says why a server that was started does not answer; nil, if it does.
func (s *Server) unready(l *life, err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-l.ended:
	default:
		return err
	}
	if l.status == commandNotFound && strings.Contains(err.Error(), "not found") {
		return s.absent(err)
	}
	return fmt.Errorf("redis-server in the image %s does not start: %w", s.fleet.image, err)
}

// vet says what is wrong with a server that runs, if it is not fit to be a node: an image
// may have any Redis, and start it as it likes.
func (s *Server) vet(ctx context.Context) error {
	c, err := preflight.Open(ctx, s.Addr(), redisnode.Options{Prefix: label + ":"})
	if err != nil {
		return fmt.Errorf("a server of the image %s is not fit to be a node: %w", s.fleet.image, err)
	}
	_ = c.Close()
	if !s.fleet.options.cut() {
		return nil
	}
	if v, err := preflight.ParseVersion(c.Server.Version); err == nil && v.Before(aof.LeastVersion) {
		return fmt.Errorf("the image %s has Redis %s, which is too old to be given back what was on its disk at a time before: %v is the least", s.fleet.image, c.Server.Version, aof.LeastVersion)
	}
	if err := s.file.Writable(); err != nil {
		return fmt.Errorf("what a server of the image %s has on its disk cannot be cut from outside of its container: %w", s.fleet.image, err)
	}
	return nil
}
