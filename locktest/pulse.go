package locktest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// standstill is how long, by the real clock, virtual time may stand still until the test binary
// is ended.
var standstill = time.Minute

// pulse shows whether virtual time goes on. It beats in a bubble, and is felt outside of it.
type pulse struct{ beats atomic.Int64 }

// beat counts the seconds of the bubble's time until done is closed.
func (p *pulse) beat(done <-chan struct{}) {
	for {
		select {
		case <-time.After(time.Second):
			p.beats.Add(1)
		case <-done:
			return
		}
	}
}

// feel ends the test binary if no beat comes for too long, for nothing else can end what is in
// the bubble. What it returns ends the watch.
func (p *pulse) feel(test string) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		last, since := p.beats.Load(), time.Now()
		tick := time.NewTicker(standstill / 10)
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-tick.C:
			}
			if now := p.beats.Load(); now != last {
				last, since = now, time.Now()
			}
			if time.Since(since) > standstill {
				panic(fmt.Sprintf("locktest: %s: virtual time has stood still for %v: a goroutine of the lock tries again and again without a pause, waits for something outside of the run, such as a Redis client that was not made in it, or waits for a mutex while the one that has it waits for the network, which testing/synctest does not take for waiting\n\n%s", test, standstill, bubbled(func(first string) bool { return !strings.Contains(first, durable) })))
			}
		}
	}()
	return func() { close(stopped) }
}
