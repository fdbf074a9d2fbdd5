package mutextest

import (
	"sync"

	"github.com/lockstorm/lockstorm/env"
)

// observe is an observer that is a function.
type observe func(env.Event)

func (o observe) Observe(e env.Event) { o(e) }

// counter is an observer that counts.
type counter struct {
	mu    sync.Mutex
	steps map[env.Step]int
}

func (c *counter) Observe(e env.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steps == nil {
		c.steps = map[env.Step]int{}
	}
	c.steps[e.Step]++
}

// of returns how often a step has been taken.
func (c *counter) of(s env.Step) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps[s]
}
