package redisnode

import "sync"

// headcount counts goroutines, so that whoever dismisses them can wait for them.
type headcount struct {
	mu        sync.Mutex
	dismissed bool
	at        sync.WaitGroup
}

// join counts n more, each of which has to call leave. It returns false once
// they are dismissed.
func (c *headcount) join(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dismissed {
		c.at.Add(n)
	}
	return !c.dismissed
}

func (c *headcount) leave() { c.at.Done() }

// dismiss lets nobody join any more and reports whether it is the first to.
func (c *headcount) dismiss() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.dismissed
	c.dismissed = true
	return first
}

func (c *headcount) wait() { c.at.Wait() }
