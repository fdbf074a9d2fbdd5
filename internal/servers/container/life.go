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

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// life is that of a container, from a start to its end.
type life struct {
	engine client.APIClient
	id     string
	addr   string

	status int64         // with which it ended, if nothing else is said of that; to be read after ended
	doomed atomic.Bool   // we have ended it
	ended  chan struct{} // closed after its end
	death  error         // how it ended; to be read after ended

	line net.Conn      // to the server, which breaks when that is gone; nil: it was never ready
	over chan struct{} // closed when the engine has done with a life that we have ended
	err  error         // why it has not; to be read after over
}

// begin watches a container that was started. died is called if it ends and we did not
// end it.
func begin(engine client.APIClient, id, addr string, died func(error)) *life {
	l := &life{engine: engine, id: id, addr: addr, ended: make(chan struct{}), over: make(chan struct{})}
	go l.watch(died)
	return l
}

func (l *life) watch(died func(error)) {
	end := l.engine.ContainerWait(context.Background(), l.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	how := ""
	select {
	case r := <-end.Result:
		l.status, how = r.StatusCode, fmt.Sprintf("exit status %d", r.StatusCode)
	case err := <-end.Error:
		how = oneLine(err).Error()
	}
	if !l.doomed.Load() {
		l.death = fmt.Errorf("the container of redis-server on %s ended of itself (%s); the end of its log:\n%s", l.addr, how, l.tail())
	}
	close(l.ended)
	if !l.doomed.Load() {
		died(l.death)
	}
}

// tailPatience is how long the engine may take to tell what a container has said.
const tailPatience = 5 * time.Second

// tail returns the last lines of what a container has said, for an error message.
func (l *life) tail() string {
	ctx, cancel := context.WithTimeout(context.Background(), tailPatience)
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

// Ended, Death and Log are what [redisserver.Life] asks for.
func (l *life) Ended() <-chan struct{} { return l.ended }
func (l *life) Death() error           { return l.death }
func (l *life) Log() string            { return l.tail() }

// ready returns nil once the server answers PING.
func (l *life) ready(ctx context.Context) error {
	if err := redisserver.Operator(l.addr).Await(ctx, l); err != nil {
		return err
	}
	line, err := redisserver.Dialer.DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return err
	}
	if !redisserver.Pongs(line) { // it is the server's own, and not the engine's that waits for it
		_ = line.Close()
		return fmt.Errorf("redis-server on %s does not answer a second time", l.addr)
	}
	l.line = line
	return nil
}

// gone returns when the server is gone, which its container may not be yet.
func (l *life) gone() {
	defer func() { _ = l.line.Close() }()
	_ = l.line.SetReadDeadline(time.Now().Add(enginePatience))
	_, _ = io.Copy(io.Discard, l.line)
}

// finish has the engine end a life, and waits for that.
func (l *life) finish(how func(context.Context) error) {
	defer close(l.over)
	ctx, cancel := context.WithTimeout(context.Background(), enginePatience)
	defer cancel()
	err := how(ctx) // which matters only if nothing ends: who is dead cannot be killed
	select {
	case <-l.ended:
	case <-ctx.Done():
		l.err = fmt.Errorf("the container of redis-server on %s does not end: %w", l.addr, cmp.Or(err, context.Cause(ctx)))
	}
}

// wait returns when the engine has done with a life that we have ended, if there was one.
func (l *life) wait(ctx context.Context) error {
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
