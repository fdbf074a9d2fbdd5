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

// lookEvery is the time between two looks at a server, and lookPatience how long it may
// take to answer one: a network that is worse than that does things to the run that are
// not in its plan.
const (
	lookEvery    = 500 * time.Millisecond
	lookPatience = 2 * time.Second
)

// settle lets what is on its way to a server arrive.
func settle() { time.Sleep(50 * time.Millisecond) }

// sweepPatience is how long it may take to delete the keys of a run on one server.
const sweepPatience = time.Minute

// serverMonitor watches the servers of a run, over a connection of its own to each, and
// deletes at the end what the run has left on them.
type serverMonitor struct {
	connect redisnode.Options
	died    chan error
	over    context.Context
	end     context.CancelFunc

	watching sync.WaitGroup
	conns    []*preflight.Conn // each of its goroutine, until these are gone
}

func watch(conns []*preflight.Conn, connect redisnode.Options) *serverMonitor {
	c := &serverMonitor{connect: connect, conns: conns, died: make(chan error, 1)}
	c.over, c.end = context.WithCancel(context.Background())
	for _, conn := range conns {
		c.watching.Go(func() { c.watch(conn) })
	}
	return c
}

// watch looks at one server again and again.
func (m *serverMonitor) watch(conn *preflight.Conn) {
	next := time.NewTicker(lookEvery)
	defer next.Stop()
	for {
		select {
		case <-m.over.Done():
			return
		case <-next.C:
		}
		if err := m.look(conn); err != nil {
			select {
			case m.died <- err:
			default: // the first one is enough
			}
			return
		}
	}
}

// look says what has become of a server, if something has; nil also if the run is over.
func (m *serverMonitor) look(conn *preflight.Conn) error {
	ctx, cancel := context.WithTimeout(m.over, lookPatience)
	defer cancel()
	err := conn.Still(ctx, m.connect)
	if err == nil || m.over.Err() != nil {
		return nil
	}
	return unplanned(err)
}

// unplanned says of what has become of a server that no plan is to blame.
func unplanned(change error) error {
	if change == nil {
		return nil
	}
	return fmt.Errorf("during the run, and by no fault of its plan: %w", change)
}

// close ends the watch and deletes all keys of the run.
func (m *serverMonitor) close() error {
	m.end()
	m.watching.Wait()
	errs := make([]error, len(m.conns))
	var sweeping sync.WaitGroup
	for i, conn := range m.conns {
		sweeping.Go(func() { errs[i] = m.tidy(conn) })
	}
	sweeping.Wait()
	return errors.Join(errs...)
}

// tidy deletes the keys of the run on one server.
func (m *serverMonitor) tidy(conn *preflight.Conn) error {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), sweepPatience)
	defer cancel()
	changed := conn.Still(ctx, m.connect) // it connects again, if need be
	if err := sweep(ctx, conn, m.connect.Prefix, settle); err != nil {
		return fmt.Errorf("keys %s* may be left on %s, until their time to live is over: %w", m.connect.Prefix, conn.Server.Addr, cmp.Or(changed, err))
	}
	return unplanned(changed)
}

// scan is the command for one page of the keys with a prefix, which has no characters
// that a pattern would understand.
func scan(cursor, prefix string) []string {
	return []string{"SCAN", cursor, "MATCH", prefix + "*", "COUNT", "1000"}
}

// sweep deletes all keys with a prefix. It looks until it has found nothing twice, with a
// pause in between: what was on its way to the server when nobody sent anything any more
// may be done behind the first look, also where that has found nothing.
func sweep(ctx context.Context, c *preflight.Conn, prefix string, pause func()) error {
	for empty := 0; empty < 2; {
		found, err := look(ctx, c, prefix)
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

// look deletes what keys with a prefix it comes upon, and reports whether there were any.
func look(ctx context.Context, c *preflight.Conn, prefix string) (found bool, err error) {
	for cursor := ""; cursor != "0"; {
		keys, next, err := page(ctx, c, cursor, prefix)
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

// page returns some keys, and where the next page begins: "0" is the end, and "" the
// beginning.
func page(ctx context.Context, c *preflight.Conn, cursor, prefix string) (keys []string, next string, err error) {
	if cursor == "" {
		cursor = "0"
	}
	said, err := c.Ask(ctx, scan(cursor, prefix)...)
	if err != nil {
		return nil, "", err
	}
	parts, _ := said.([]any)
	if len(parts) != 2 {
		return nil, "", fmt.Errorf("%d parts of an answer to SCAN, which has two", len(parts))
	}
	next, _ = parts[0].(string)
	list, ok := parts[1].([]any)
	if next == "" || !ok {
		return nil, "", fmt.Errorf("SCAN is answered with %v", said)
	}
	for _, k := range list {
		key, _ := k.(string)
		keys = append(keys, key)
	}
	return keys, next, nil
}
