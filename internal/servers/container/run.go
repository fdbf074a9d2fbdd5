package container

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// containerRun is one run of a container, from a start to its end. It implements
// [child.ServerRun].
type containerRun struct {
	engine client.APIClient
	id     string
	addr   string

	status   int64         // exit status, if the engine reports one; read after ended is closed
	expected atomic.Bool   // we ended it
	ended    chan struct{} // closed after the end of the run
	death    error         // how it ended; read after ended is closed

	line net.Conn      // connection to the server, which breaks at its end; nil: the server was never ready
	over chan struct{} // closed when the engine has finished ending the run
	err  error         // why it could not; read after over is closed
}

// watchContainer watches a container that was started. died is called if it ends and we did
// not end it.
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
		l.death = fmt.Errorf("the container of redis-server on %s ended, and no fault of the plan ended it (%s); the end of its log:\n%s", l.addr, how, l.tail())
	}
	close(l.ended)
	if !l.expected.Load() {
		died(l.death)
	}
}

// logTimeout bounds how long the engine may take to return a log.
const logTimeout = 5 * time.Second

// tail returns the last lines of a container's log, for an error message.
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

func (l *containerRun) Ended() <-chan struct{} { return l.ended }
func (l *containerRun) Death() error           { return l.death }
func (l *containerRun) Log() string            { return l.tail() }

// ready waits until the server answers PING.
func (l *containerRun) ready(ctx context.Context) error {
	if err := child.Await(ctx, "redis-server on "+l.addr, l, redisserver.Operator(l.addr).Answers); err != nil {
		return err
	}
	line, err := redisserver.Dialer.DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return err
	}
	if !redisserver.AnswersPing(line) { // the server must answer on this connection, not the engine's proxy
		_ = line.Close()
		return fmt.Errorf("redis-server on %s does not answer a second time", l.addr)
	}
	l.line = line
	return nil
}

// awaitDisconnect waits until the server is gone. Its container may still exist then.
func (l *containerRun) awaitDisconnect() {
	defer func() { _ = l.line.Close() }()
	_ = l.line.SetReadDeadline(time.Now().Add(engineTimeout))
	_, _ = io.Copy(io.Discard, l.line)
}

// finish calls how to make the engine end the run, and waits for the end.
func (l *containerRun) finish(how func(context.Context) error) {
	defer close(l.over)
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	err := how(ctx) // an error matters only if the run does not end: it may have ended before
	select {
	case <-l.ended:
	case <-ctx.Done():
		l.err = fmt.Errorf("the container of redis-server on %s does not end: %w", l.addr, cmp.Or(err, context.Cause(ctx)))
	}
}

// wait waits until the engine has finished ending a run. It returns at once if there was
// none.
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
		return fmt.Errorf("another program listens on %s: %w", s.Addr(), err)
	case strings.Contains(text, "executable file not found"):
		return s.noServerError(err)
	default:
		return fmt.Errorf("the container of the image %s on %s does not start: %w", s.fleet.image, s.Addr(), err)
	}
}

func (s *Server) noServerError(err error) error {
	return fmt.Errorf("the image %s has no redis-server in its PATH: %w", s.fleet.image, err)
}

// commandNotFound is the exit status of a shell that does not find a program. A program
// that lacks a library exits with it as well.
const commandNotFound = 127

// readyError says why a server does not answer, or returns nil if err is nil.
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

// check returns an error if a running server cannot be a node. An image may contain any
// Redis and start it in any way.
func (s *Server) check(ctx context.Context) error {
	restored := s.fleet.options.rollsBack()
	info, err := s.operator().Info(ctx)
	if err == nil {
		err = checkInfo(info, restored)
	}
	if err != nil {
		return fmt.Errorf("a server of the image %s cannot be a node: %w", s.fleet.image, err)
	}
	if !restored {
		return nil
	}
	if err := s.file.Writable(); err != nil {
		return fmt.Errorf("the append-only file of a server of the image %s cannot be truncated from outside its container: %w", s.fleet.image, err)
	}
	return nil
}

func checkInfo(info map[string]string, restored bool) error {
	if err := redisserver.CheckVersion(info["redis_version"], restored); err != nil {
		return fmt.Errorf("it is %w", err)
	}
	switch policy := info["maxmemory_policy"]; {
	case info["cluster_enabled"] == "1":
		return errors.New("it is a node of a Redis cluster")
	case policy != "" && policy != "noeviction" && info["maxmemory"] != "0": // the lock's loss would be blamed on the plan's faults
		return fmt.Errorf("it may evict a lock's keys: maxmemory is %s and maxmemory-policy %s", info["maxmemory"], policy)
	}
	return nil
}
