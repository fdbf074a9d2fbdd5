package redisnode

import (
	"context"
	"slices"
	"time"
)

// This file expires requests. Each node has one timer, for all its requests and for the next
// flush of the waiting ones.

// timerGrain is how much later than its deadline a request may expire, so that many expire
// together: a dead node can have thousands of requests.
const timerGrain = time.Millisecond

// startTimer makes the timer fire at an instant, or earlier; zero means never.
func (n *node) startTimer(at time.Time) {
	if at.IsZero() || !n.timerAt.IsZero() && !at.Before(n.timerAt) {
		return
	}
	n.timerAt = at
	n.timer.Reset(time.Until(at))
}

// onTimer answers the expired requests, and flushes the waiting ones if that is due.
func (n *node) onTimer() {
	for _, r := range n.expireAndFlush() {
		if r.sent {
			n.deliver(r, n.timeoutReply)
		} else {
			n.deliver(r, n.unsentReply)
		}
	}
}

func (n *node) expireAndFlush() (expired []*request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	n.timerAt = time.Time{}
	expired = n.expire(now)
	// While replies are coming in, the batch under way is waited for.
	if busyUntil := n.lastReply.Add(n.flushWait()); !n.flushAt.IsZero() && n.flushAt.Before(busyUntil) {
		n.flushAt = busyUntil
	}
	if !n.flushAt.IsZero() && !n.flushAt.After(now) {
		if n.flushAt = (time.Time{}); len(n.waiting) > 0 && n.active < n.maxBatches {
			n.startWorker()
		}
	}
	n.startTimer(n.flushAt)
	return expired
}

// expire removes the requests whose deadline has passed, and starts the timer for the next.
func (n *node) expire(now time.Time) (expired []*request) {
	var soonest time.Time
	for r := n.unanswered; r != nil; {
		next := r.next
		switch {
		case r.deadline.IsZero():
		case !r.deadline.After(now):
			n.unlink(r)
			expired = append(expired, r)
		case soonest.IsZero() || r.deadline.Before(soonest):
			soonest = r.deadline
		}
		r = next
	}
	if expired != nil {
		n.waiting = slices.DeleteFunc(n.waiting, func(r *request) bool { return r.answered })
	}
	if earliest := now.Add(timerGrain); !soonest.IsZero() && soonest.Before(earliest) {
		soonest = earliest
	}
	n.startTimer(soonest)
	return expired
}

// batchContext returns a context that ends with the latest deadline of the requests.
func (n *node) batchContext(requests []*request) (context.Context, context.CancelFunc) {
	latest := requests[0].deadline
	for _, r := range requests {
		if r.deadline.IsZero() {
			return context.WithCancel(n.nodes.life)
		}
		if latest.Before(r.deadline) {
			latest = r.deadline
		}
	}
	return context.WithDeadline(n.nodes.life, latest)
}
