package live

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// crew is the goroutines of a run.
type crew struct {
	mu        sync.Mutex
	members   []*member
	dismissed bool
}

type member struct {
	name string
	gone chan struct{} // closed when it has ended
}

// start runs f on a goroutine. A panic in it goes to broken. Nobody joins a
// crew that is dismissed: start returns nil then.
func (c *crew) start(name string, f func(), broken func(error)) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dismissed {
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

func (c *crew) leave(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.members, m)
	c.members = slices.Delete(c.members, i, i+1)
	close(m.gone)
}

// dismiss waits for all goroutines to end. The error names those that have
// not when patience is over.
func (c *crew) dismiss(patience time.Duration) error {
	c.mu.Lock()
	c.dismissed = true
	members := slices.Clone(c.members)
	c.mu.Unlock()
	late := time.After(patience)
	for _, m := range members {
		select {
		case <-m.gone:
		case <-late:
			return c.stuck(patience)
		}
	}
	return nil
}

func (c *crew) stuck(patience time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, m := range c.members {
		names = append(names, m.name)
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%v after the end of the run these have not ended: %s", patience, strings.Join(names, "; "))
}
