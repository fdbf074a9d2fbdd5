package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// slot makes one shard at a time.
type slot struct {
	campaign  *Campaign
	worker    Worker
	queue     jetstream.Consumer
	runner    Runner          // nil: not started
	abandoned context.Context // ends when shards are to be given back
}

func (s *slot) close() error {
	if s.runner == nil {
		return nil
	}
	r := s.runner
	s.runner = nil
	return r.Close()
}

// work takes shards until the queue is empty or ctx ends.
func (s *slot) work(ctx context.Context) error {
	for ctx.Err() == nil {
		m, err := s.take(ctx)
		switch {
		case err != nil && s.campaign.ended(ctx, err) == nil:
			return nil
		case err != nil: // the servers do not answer: a cluster elects a leader, or was restarted
			s.worker.warn("campaign %s: taking a shard: %v", s.campaign.Spec.Name, err)
			sleep(ctx, patience)
		case m == nil:
			return nil
		default:
			if err := s.handle(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// take takes a shard from the queue, or nil if there is none. It does not end with ctx, unless the campaign
// is complete: the servers would give a shard to a request that nobody listens to any more.
func (s *slot) take(ctx context.Context) (jetstream.Msg, error) {
	batch, err := s.queue.Fetch(1, jetstream.FetchMaxWait(patience))
	if err != nil {
		return nil, err
	}
	for over := ctx.Done(); ; over = nil {
		select {
		case m, open := <-batch.Messages():
			if !open {
				return nil, batch.Error()
			}
			return m, nil
		case <-over:
			if errors.Is(context.Cause(ctx), ErrComplete) {
				return nil, nil
			}
		}
	}
}

// handle makes the shard of a message, unless there is nothing to do. It returns an error if the worker
// cannot go on.
func (s *slot) handle(ctx context.Context, m jetstream.Msg) error {
	c, b := s.campaign, s.worker.Build
	shard, err := c.shardOf(m.Data())
	if err != nil {
		s.worker.warn("%v", err)
		return m.Term()
	}
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	alive := keepAlive(m, c.engine.ackWait/3)
	defer alive()
	if _, err := c.record(s.abandoned, b, shard); err == nil {
		s.done(m)
		return nil
	}
	if ctx.Err() != nil {
		s.giveBack(m, shard)
		return nil
	}
	attempt := int(min(meta.NumDelivered, 1<<20))
	if attempt > c.Spec.Limits.Attempts {
		if err := s.retry(func(ctx context.Context) error { return c.setAside(ctx, b, shard, attempt-1) }); err != nil {
			s.giveBack(m, shard)
			return nil
		}
		s.done(m)
		return nil
	}
	if s.runner == nil {
		if s.runner, err = s.worker.Start(s.abandoned, c.Spec); err != nil {
			s.giveBack(m, shard)
			return fmt.Errorf("campaign %s: %w", c.Spec.Name, err)
		}
	}
	others, origins, err := c.draw(s.abandoned, b, shard)
	if err != nil && s.abandoned.Err() == nil { // without them it is worse, and not wrong
		s.worker.warn("campaign %s, shard %d: drawing from others: %v", c.Spec.Name, shard, err)
	}
	began := time.Now()
	result, err := s.run(shard, others)
	switch {
	case s.abandoned.Err() != nil:
		s.giveBack(m, shard)
		return s.close()
	case err != nil:
		s.failed(m, shard, attempt, err)
		return s.close()
	}
	s.stored(m, shard, Record{Worker: s.worker.Name, Took: time.Since(began), Waited: began.Sub(meta.Timestamp), Find: result.Find, Others: origins}, result.Data)
	return nil
}

// run makes a shard within its limit of time.
func (s *slot) run(shard int, others []Other) (Result, error) {
	limit := s.campaign.Spec.Limits.Time
	ctx, cancel := context.WithTimeoutCause(s.abandoned, limit, fmt.Errorf("it took longer than its limit of %s", limit))
	defer cancel()
	r, err := s.runner.Run(ctx, shard, others)
	switch {
	case err != nil && ctx.Err() != nil:
		err = &LoggedError{context.Cause(ctx), logOf(err)}
	case err == nil && len(r.Data) > MaxResult:
		err = fmt.Errorf("its result has %d bytes: want at most %d", len(r.Data), MaxResult)
	}
	return r, err
}

// stored stores the result, as long as it takes.
func (s *slot) stored(m jetstream.Msg, shard int, r Record, data []byte) {
	var first bool
	err := s.retry(func(ctx context.Context) (err error) {
		first, err = s.campaign.store(ctx, s.worker.Build, shard, r, data)
		return err
	})
	if err != nil { // the worker ends, and the servers do not answer
		s.worker.warn("campaign %s, shard %d: its result is lost: %v", s.campaign.Spec.Name, shard, err)
		return
	}
	if first {
		s.worker.Took(r)
	}
	s.done(m)
}

// failed stores why an attempt failed, and leaves the shard to another attempt.
func (s *slot) failed(m jetstream.Msg, shard, attempt int, why error) {
	f := Failure{Worker: s.worker.Name, Error: why.Error(), Log: logOf(why)}
	s.worker.warn("campaign %s, shard %d, attempt %d: %v", s.campaign.Spec.Name, shard, attempt, why)
	_ = s.retry(func(ctx context.Context) error { return s.campaign.fail(ctx, s.worker.Build, shard, attempt, f) })
	_ = m.NakWithDelay(patience) // without it the servers wait a little longer
}

// giveBack queues the shard anew, so that this delivery does not count as an attempt.
func (s *slot) giveBack(m jetstream.Msg, shard int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.abandoned), requestTimeout)
	defer cancel()
	if err := s.campaign.queue(ctx, s.worker.Build, []int{shard}); err == nil {
		_ = m.Ack() // without it the shard is there twice, and made once more at worst
	}
}

// done takes the message out of the queue. If that fails the shard comes again, and is found done.
func (s *slot) done(m jetstream.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.abandoned), requestTimeout)
	defer cancel()
	_ = m.DoubleAck(ctx)
}

// retry repeats a request until it succeeds or the shard is abandoned; then once more.
func (s *slot) retry(do func(context.Context) error) error {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		over := s.abandoned.Err() != nil
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.abandoned), requestTimeout)
		err := do(ctx)
		cancel()
		if err == nil || over {
			return err
		}
		s.worker.warn("campaign %s: %v; trying again", s.campaign.Spec.Name, err)
		sleep(s.abandoned, pause)
	}
}

// keepAlive tells the servers that the shard is being made, until the returned function is called.
func keepAlive(m jetstream.Msg, every time.Duration) func() {
	stop := make(chan struct{})
	go func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				_ = m.InProgress() // the next one may come through
			case <-stop:
				return
			}
		}
	}()
	return func() { close(stop) }
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
