//go:build linux

package container

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// containerRun is that of a container, from a start to its end.
type containerRun struct {
	engine client.APIClient
	id     string
	addr   string

	status int64         // with which it ended, if nothing else is said of that; to be read after ended
	expected atomic.Bool   // we have ended it
	ended  chan struct{} // closed after its end
	death  error         // how it ended; to be read after ended

	line net.Conn      // to the server, which breaks when that is gone; nil: it was never ready
	over chan struct{} // closed when the engine has done with a life that we have ended
	err  error         // why it has not; to be read after over
}

// watchContainer watches a container that was started. died is called if it ends and we did not
// end it.
func watchContainer(engine client.APIClient, id, addr string, died func(error)) *containerRun {
	l := &containerRun{engine: engine, id: id, addr: addr, ended: make(chan struct{}), over: make(chan struct{})}
	go l.watch(died)
	return l
}

func (l *containerRun) watch(died func(error)) {
	end := l.engine.ContainerWait(context.Background(), l.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	how := ""
	select {
	case r := <-end.Result:
		l.status, how = r.StatusCode, fmt.Sprintf("exit status %d", r.StatusCode)
	case err := <-end.Error:
		how = oneLine(err).Error()
	}
	if !l.expected.Load() {
		l.death = fmt.Errorf("the container of redis-server on %s ended of itself (%s); the end of its log:\n%s", l.addr, how, l.tail())
	}
	close(l.ended)
	if !l.expected.Load() {
		died(l.death)
	}
}

// logTimeout is how long the engine may take to tell what a container has said.
const logTimeout = 5 * time.Second

// tail returns the last lines of what a container has said, for an error message.
func (l *containerRun) tail() string {
	ctx, cancel := context.WithTimeout(context.Background(), logTimeout)
	defer cancel()
	log, err := l.engine.ContainerLogs(ctx, l.id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "10"})
	if err != nil {
		return err.Error()
	}
	defer func() { _ = log.Close() }()
	var text bytes.Buffer
	_, _ = stdcopy.StdCopy(&text, &text, log)
	return strings.TrimSpace(text.String())
}

// Ended, Death and Log are what [redisserver.ServerRun] asks for.
func (l *containerRun) Ended() <-chan struct{} { return l.ended }
func (l *containerRun) Death() error           { return l.death }
func (l *containerRun) Log() string            { return l.tail() }

// ready returns nil once the server answers PING.
func (l *containerRun) ready(ctx context.Context) error {
	if err := redisserver.Operator(l.addr).Await(ctx, l); err != nil {
		return err
	}
	line, err := redisserver.Dialer.DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return err
	}
	if !redisserver.AnswersPing(line) { // it is the server's own, and not the engine's that waits for it
		_ = line.Close()
		return fmt.Errorf("redis-server on %s does not answer a second time", l.addr)
	}
	l.line = line
	return nil
}

// awaitDisconnect returns when the server is awaitDisconnect, which its container may not be yet.
func (l *containerRun) awaitDisconnect() {
	defer func() { _ = l.line.Close() }()
	_ = l.line.SetReadDeadline(time.Now().Add(engineTimeout))
	_, _ = io.Copy(io.Discard, l.line)
}

// finish has the engine end a life, and waits for that.
func (l *containerRun) finish(how func(context.Context) error) {
	defer close(l.over)
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	err := how(ctx) // which matters only if nothing ends: who is dead cannot be killed
	select {
	case <-l.ended:
	case <-ctx.Done():
		l.err = fmt.Errorf("the container of redis-server on %s does not end: %w", l.addr, cmp.Or(err, context.Cause(ctx)))
	}
}

// wait returns when the engine has done with a life that we have ended, if there was one.
func (l *containerRun) wait(ctx context.Context) error {
	if l == nil {
		return nil
	}
	select {
	case <-l.over:
		return l.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// startError says why the engine does not start a container.
func (s *Server) startError(err error) error {
	err = oneLine(err)
	switch text := err.Error(); {
	case strings.Contains(text, "already allocated"), strings.Contains(text, "address already in use"):
		return fmt.Errorf("another program has taken %s: %w", s.Addr(), err)
	case strings.Contains(text, "executable file not found"):
		return s.noServerError(err)
	default:
		return fmt.Errorf("the container of the image %s on %s does not start: %w", s.fleet.image, s.Addr(), err)
	}
}

func (s *Server) noServerError(err error) error {
	return fmt.Errorf("the image %s has no redis-server in its PATH: %w", s.fleet.image, err)
}

// commandNotFound is the status with which a shell ends that finds no such program. A
// program that lacks a library ends with it as well.
const commandNotFound = 127

// readyError says why a server that was started does not answer; nil, if it does.
func (s *Server) readyError(l *containerRun, err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-l.ended:
	default:
		return err
	}
	if l.status == commandNotFound && strings.Contains(err.Error(), "not found") {
		return s.noServerError(err)
	}
	return fmt.Errorf("redis-server in the image %s does not start: %w", s.fleet.image, err)
}

// check says what is wrong with a server that runs, if it is not fit to be a node: an image
// may have any Redis, and start it as it likes.
func (s *Server) check(ctx context.Context) error {
	c, err := preflight.Open(ctx, s.Addr(), redisnode.Options{Prefix: label + ":"})
	if err != nil {
		return fmt.Errorf("a server of the image %s is not fit to be a node: %w", s.fleet.image, err)
	}
	_ = c.Close()
	if !s.fleet.options.rollsBack() {
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
