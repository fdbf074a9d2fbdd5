package preflight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// SamplingOptions configures [RoundTrips].
type SamplingOptions struct {
	Samples int           // PINGs per server, at least 1
	Every   time.Duration // time between two PINGs to one server, above 0

	// Asked, unless nil, is called after each reply, never concurrently.
	Asked func()
}

// replyTimeout bounds the wait for one reply.
const replyTimeout = 5 * time.Second

// RoundTrips measures the round-trip times of PING to all servers in parallel, over one
// connection each, and returns the times of each server in the order of addrs. It reads and
// writes no keys. The error names each server that could not be reached or did not reply
// within 5 seconds; there are no times then.
func RoundTrips(ctx context.Context, addrs []string, connect redisnode.Options, o SamplingOptions) ([][]time.Duration, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type answer struct {
		from int
		took time.Duration
		err  error
		done bool
	}
	answers := make(chan answer)
	for i, addr := range addrs {
		go func() {
			err := sample(ctx, addr, connect, o, func(took time.Duration) { answers <- answer{from: i, took: took} })
			answers <- answer{from: i, err: err, done: true}
		}()
	}
	times, errs := make([][]time.Duration, len(addrs)), make([]error, len(addrs))
	for going := len(addrs); going > 0; {
		a := <-answers
		switch {
		case a.done:
			going--
			if errs[a.from] = a.err; a.err != nil {
				stop() // the other results are not needed
			}
		default:
			times[a.from] = append(times[a.from], a.took)
			if o.Asked != nil {
				o.Asked()
			}
		}
	}
	if err := rootCauses(errs); err != nil {
		return nil, err
	}
	return times, nil
}

// rootCauses joins the errors of servers. Those of servers that were stopped because
// another failed count only if there are no others.
func rootCauses(errs []error) error {
	var causes, stopped []error
	for _, err := range errs {
		if errors.Is(err, context.Canceled) {
			stopped = append(stopped, err)
		} else {
			causes = append(causes, err)
		}
	}
	if err := errors.Join(causes...); err != nil {
		return err
	}
	return errors.Join(stopped...)
}

// sample measures one server.
func sample(ctx context.Context, addr string, connect redisnode.Options, o SamplingOptions, took func(time.Duration)) error {
	c, err := Connect(ctx, addr, connect)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	next := time.NewTicker(o.Every)
	defer next.Stop()
	for n := range o.Samples {
		if n > 0 {
			select {
			case <-next.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		one, cancel := context.WithTimeoutCause(ctx, replyTimeout, fmt.Errorf("no answer within %v", replyTimeout))
		asked := time.Now()
		err := c.Ping(one, connect)
		answered := time.Now()
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		}
		took(answered.Sub(asked))
	}
	return nil
}
