package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Watchdog extends a hold in the background to a full TTL each time, until it is released or lost.
// While no quorum replies it tries again every node timeout, or every quarter of Every if that is
// shorter, until the holder is warned.
//
// If the work hangs, a watchdog without a limit keeps the lock for ever.
type Watchdog struct {
	// Every is the time from the grant, and from each extension, to the next extension, on
	// the lock's clock: less than the validity minus the margin. A third of the TTL leaves
	// time for a second try. 0 means no watchdog.
	Every time.Duration

	// Limit is the largest number of extensions of a hold; 0 means no limit. After the last
	// one the hold ends like one without a watchdog.
	Limit int
}

func (c Config) validateWatchdog() error {
	w := c.Watchdog
	switch {
	case w.Every < 0:
		return fmt.Errorf("%w: watchdog every %v: want at least 0", ErrConfig, w.Every)
	case w.Limit < 0:
		return fmt.Errorf("%w: watchdog limit %d: want at least 0", ErrConfig, w.Limit)
	case w.Every == 0 && w.Limit != 0:
		return fmt.Errorf("%w: watchdog limit %d without a time between extensions", ErrConfig, w.Limit)
	}
	if room := c.TTL - c.allowance(c.TTL) - c.Margin; w.Every >= room && w.Every > 0 {
		return fmt.Errorf("%w: watchdog every %v: want less than the validity without the margin, %v", ErrConfig, w.Every, room)
	}
	return nil
}

// renewer is the watchdog of one hold.
type renewer struct {
	hold *Hold
	next env.Instant // when it extends next, on the lock's clock; Never: not any more
	done int
}

func newRenewer(h *Hold) renewer {
	p := renewer{hold: h, next: env.Never}
	if every := h.attempt.mutex.config.Watchdog.Every; every > 0 {
		p.next = h.attempt.mutex.now().Add(every)
	}
	return p
}

// extend extends the hold if it is time. Extend has reported a loss or the end of validity to the
// holder. If no quorum replied, the next try comes soon.
func (p *renewer) extend(ctx context.Context) {
	m := p.hold.attempt.mutex
	if m.now() < p.next {
		return
	}
	w := m.config.Watchdog
	err := p.hold.Extend(ctx, m.config.TTL)
	switch {
	case errors.Is(err, ErrNoQuorum), errors.Is(err, ErrExtending):
		p.next = m.now().Add(min(w.Every/4, m.config.NodeTimeout))
		return
	case err == nil:
		p.done++
	}
	p.next = m.now().Add(w.Every)
	if w.Limit > 0 && p.done == w.Limit {
		p.next = env.Never
	}
}
