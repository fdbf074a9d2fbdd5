package live

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// taskGroup is the goroutines of a run.
type taskGroup struct {
	mu      sync.Mutex
	members []*member
	closed  bool
}

type member struct {
	name string
	gone chan struct{} // closed when it has ended
}

// start runs f on a goroutine and passes a panic in it to broken. It returns nil
// if the group is closed.
func (c *taskGroup) start(name string, f func(), broken func(error)) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	m := &member{name: name, gone: make(chan struct{})}
	c.members = append(c.members, m)
	go func() {
		defer c.leave(m)
		defer func() {
			if p := recover(); p != nil {
				broken(fmt.Errorf("%s: panic: %v\n%s", name, p, debug.Stack()))
			}
		}()
		f()
	}()
	return m
}

func (c *taskGroup) leave(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.members, m)
	c.members = slices.Delete(c.members, i, i+1)
	close(m.gone)
}

// wait closes the group and waits until all goroutines have ended. After the
// timeout it returns an error that names those that have not.
func (c *taskGroup) wait(timeout time.Duration) error {
	c.mu.Lock()
	c.closed = true
	members := slices.Clone(c.members)
	c.mu.Unlock()
	late := time.After(timeout)
	for _, m := range members {
		select {
		case <-m.gone:
		case <-late:
			return c.unfinished(timeout)
		}
	}
	return nil
}

func (c *taskGroup) unfinished(timeout time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, m := range c.members {
		names = append(names, m.name)
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%v after the end of the run these have not ended: %s", timeout, strings.Join(names, "; "))
}
