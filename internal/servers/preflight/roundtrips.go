package preflight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// SamplingOptions are how servers are asked.
type SamplingOptions struct {
	Samples int           // of each server, at least 1
	Every   time.Duration // between two questions to one server, above 0

	// Asked, unless nil, is called after each answer, of one server at a time.
	Asked func()
}

// samplingPatience is how long a server may take for one answer.
const samplingPatience = 5 * time.Second

// RoundTrips asks all servers side by side, and returns the times of each in the order of the
// addresses. The error names each server that could not be asked, or did not answer within 5
// seconds; there are no times then.
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
			err := ask(ctx, addr, connect, o, func(took time.Duration) { answers <- answer{from: i, took: took} })
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
				stop() // what the others would find is not wanted any more
			}
		default:
			times[a.from] = append(times[a.from], a.took)
			if o.Asked != nil {
				o.Asked()
			}
		}
	}
	if err := firstCauses(errs); err != nil {
		return nil, err
	}
	return times, nil
}

// firstCauses joins the errors of servers, without those of servers that were told to stop
// because of another.
func firstCauses(errs []error) error {
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

// ask asks one server.
func ask(ctx context.Context, addr string, connect redisnode.Options, o SamplingOptions, took func(time.Duration)) error {
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
		one, cancel := context.WithTimeoutCause(ctx, samplingPatience, fmt.Errorf("no answer within %v", samplingPatience))
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
