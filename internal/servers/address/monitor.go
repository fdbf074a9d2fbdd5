package address

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// checkInterval is the time between two checks of a server. checkTimeout is how long it may
// take to reply: a slower network would affect the run in ways that are not in its plan.
const (
	checkInterval = 500 * time.Millisecond
	checkTimeout  = 2 * time.Second
)

// settle waits for requests that are on their way to a server to arrive.
func settle() { time.Sleep(50 * time.Millisecond) }

// sweepTimeout bounds how long it may take to delete a run's keys on one server.
const sweepTimeout = time.Minute

// serverMonitor checks the servers of a run, over one connection to each, and deletes the
// run's keys at the end.
type serverMonitor struct {
	connect redisnode.Options
	died    chan error
	over    context.Context
	end     context.CancelFunc

	watching sync.WaitGroup
	conns    []*preflight.Conn // each is used by its goroutine until that has ended
}

func startMonitor(conns []*preflight.Conn, connect redisnode.Options) *serverMonitor {
	c := &serverMonitor{connect: connect, conns: conns, died: make(chan error, 1)}
	c.over, c.end = context.WithCancel(context.Background())
	for _, conn := range conns {
		c.watching.Go(func() { c.watch(conn) })
	}
	return c
}

// watch checks one server periodically.
func (m *serverMonitor) watch(conn *preflight.Conn) {
	next := time.NewTicker(checkInterval)
	defer next.Stop()
	for {
		select {
		case <-m.over.Done():
			return
		case <-next.C:
		}
		if err := m.check(conn); err != nil {
			select {
			case m.died <- err:
			default: // the first one is enough
			}
			return
		}
	}
}

// check returns an error if a server has changed. It returns nil if the run is over.
func (m *serverMonitor) check(conn *preflight.Conn) error {
	ctx, cancel := context.WithTimeout(m.over, checkTimeout)
	defer cancel()
	err := conn.Recheck(ctx, m.connect)
	if err == nil || m.over.Err() != nil {
		return nil
	}
	return unplanned(err)
}

// unplanned marks an error about a server as not caused by the plan.
func unplanned(change error) error {
	if change == nil {
		return nil
	}
	return fmt.Errorf("during the run, and not because of a fault of its plan: %w", change)
}

// close ends the monitoring and deletes all keys of the run.
func (m *serverMonitor) close() error {
	m.end()
	m.watching.Wait()
	errs := make([]error, len(m.conns))
	var sweeping sync.WaitGroup
	for i, conn := range m.conns {
		sweeping.Go(func() { errs[i] = m.cleanUp(conn) })
	}
	sweeping.Wait()
	return errors.Join(errs...)
}

// cleanUp deletes the run's keys on one server.
func (m *serverMonitor) cleanUp(conn *preflight.Conn) error {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), sweepTimeout)
	defer cancel()
	changed := conn.Recheck(ctx, m.connect) // this also reconnects if necessary
	if err := sweep(ctx, conn, m.connect.Prefix, settle); err != nil {
		return fmt.Errorf("keys %s* may be left on %s until they expire: %w", m.connect.Prefix, conn.Server.Addr, cmp.Or(changed, err))
	}
	return unplanned(changed)
}

// scanCommand returns the command for one page of the keys with a prefix. A prefix has no
// characters that are special in a pattern.
func scanCommand(cursor, prefix string) []string {
	return []string{"SCAN", cursor, "MATCH", prefix + "*", "COUNT", "1000"}
}

// sweep deletes all keys with a prefix. It scans until two scans in a row, with a pause
// between them, have found nothing: a request that was still on its way may be processed
// after the first one.
func sweep(ctx context.Context, c *preflight.Conn, prefix string, pause func()) error {
	for empty := 0; empty < 2; {
		found, err := sweepOnce(ctx, c, prefix)
		if err != nil {
			return err
		}
		if empty++; found {
			empty = 0
		}
		if empty == 1 {
			pause()
		}
	}
	return nil
}

// sweepOnce deletes the keys with a prefix that one scan finds, and reports whether there
// were any.
func sweepOnce(ctx context.Context, c *preflight.Conn, prefix string) (found bool, err error) {
	for cursor := ""; cursor != "0"; {
		keys, next, err := scanPage(ctx, c, cursor, prefix)
		if err != nil {
			return found, err
		}
		if len(keys) > 0 {
			found = true
			if _, err := c.Ask(ctx, append([]string{"UNLINK"}, keys...)...); err != nil {
				return found, err
			}
		}
		cursor = next
	}
	return found, nil
}

// scanPage returns the keys of one page and the cursor of the next. The cursor "" is the
// beginning, "0" the end.
func scanPage(ctx context.Context, c *preflight.Conn, cursor, prefix string) (keys []string, next string, err error) {
	if cursor == "" {
		cursor = "0"
	}
	reply, err := c.Ask(ctx, scanCommand(cursor, prefix)...)
	if err != nil {
		return nil, "", err
	}
	parts, _ := reply.([]any)
	if len(parts) != 2 {
		return nil, "", fmt.Errorf("reply to SCAN has %d elements, want 2", len(parts))
	}
	next, _ = parts[0].(string)
	list, ok := parts[1].([]any)
	if next == "" || !ok {
		return nil, "", fmt.Errorf("unexpected reply to SCAN: %v", reply)
	}
	for _, k := range list {
		key, _ := k.(string)
		keys = append(keys, key)
	}
	return keys, next, nil
}
