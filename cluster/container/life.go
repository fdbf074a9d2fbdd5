//go:build linux

package container

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/cluster/operator"
)

// life is that of a container, from a start to its end.
type life struct {
	engine client.APIClient
	id     string
	addr   string

	doomed atomic.Bool   // we have ended it
	ended  chan struct{} // closed after its end
	death  error         // how it ended; to be read after ended
}

// begin watches a container that was started. died is called if it ends and we did not
// end it.
func begin(engine client.APIClient, id, addr string, died func(error)) *life {
	l := &life{engine: engine, id: id, addr: addr, ended: make(chan struct{})}
	go l.watch(died)
	return l
}

func (l *life) watch(died func(error)) {
	end := l.engine.ContainerWait(context.Background(), l.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	how := ""
	select {
	case r := <-end.Result:
		how = fmt.Sprintf("exit status %d", r.StatusCode)
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

// pollEvery is the time between two looks at whether a server answers.
const pollEvery = 5 * time.Millisecond

// ready returns nil once the server answers PING.
func (l *life) ready(ctx context.Context) error {
	for !operator.Operator(l.addr).Answers(ctx) {
		select {
		case <-l.ended:
			return l.death
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s does not answer (%w); the end of its log:\n%s", l.addr, context.Cause(ctx), l.tail())
		case <-time.After(pollEvery):
		}
	}
	return nil
}
