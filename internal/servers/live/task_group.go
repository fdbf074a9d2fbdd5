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
func (g *taskGroup) start(name string, f func(), broken func(error)) *member {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	m := &member{name: name, gone: make(chan struct{})}
	g.members = append(g.members, m)
	go func() {
		defer g.leave(m)
		defer func() {
			if p := recover(); p != nil {
				broken(fmt.Errorf("%s: panic: %v\n%s", name, p, debug.Stack()))
			}
		}()
		f()
	}()
	return m
}

func (g *taskGroup) leave(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.members, m)
	g.members = slices.Delete(g.members, i, i+1)
	close(m.gone)
}

// wait closes the group and waits until all goroutines have ended. After the
// timeout it returns an error that names those that have not.
func (g *taskGroup) wait(timeout time.Duration) error {
	g.mu.Lock()
	g.closed = true
	members := slices.Clone(g.members)
	g.mu.Unlock()
	late := time.After(timeout)
	for _, m := range members {
		select {
		case <-m.gone:
		case <-late:
			return g.unfinished(timeout)
		}
	}
	return nil
}

func (g *taskGroup) unfinished(timeout time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var names []string
	for _, m := range g.members {
		names = append(names, m.name)
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%v after the end of the run these have not ended: %s", timeout, strings.Join(names, "; "))
}
