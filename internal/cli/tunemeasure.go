//go:build !simulated

package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/nemesis"
)

// measuring is the flags of tune for measuring round trips.
type measuring struct {
	addrs   []string
	samples int
	every   time.Duration
	connect addrChoice
	own     []string // the flags that say how
}

func (m *measuring) flags(set *pflag.FlagSet) {
	set.StringSliceVar(&m.addrs, "measure", nil, "measure round trips to these servers by PING: `host:port`,…")
	set.IntVar(&m.samples, "samples", 200, "with --measure: `number` of requests to each server")
	set.DurationVar(&m.every, "every", 50*time.Millisecond, "with --measure: `time` between two requests to a server, at least 1ms")
	own := pflag.NewFlagSet("measure", pflag.ContinueOnError)
	m.connect.connectFlags(own)
	m.own = []string{"samples", "every"}
	own.VisitAll(func(f *pflag.Flag) {
		f.Usage = "with --measure: " + f.Usage
		m.own = append(m.own, f.Name)
	})
	set.AddFlagSet(own)
}

// asked returns an error for flags about measuring without --measure.
func (m *measuring) asked(set *pflag.FlagSet) error {
	if set.Changed("measure") {
		return nil
	}
	for _, name := range m.own {
		if set.Changed(name) {
			return fmt.Errorf("--%s needs --measure", name)
		}
	}
	return nil
}

// into measures the servers, if any are named, and puts the result into the question in place of
// its round trips.
func (m *measuring) into(ctx context.Context, q *tune.Question, out io.Writer) error {
	if len(m.addrs) == 0 {
		return nil
	}
	if err := checkAddrs("measure", m.addrs); err != nil {
		return err
	}
	switch {
	case m.samples < 1:
		return fmt.Errorf("--samples %d: want at least 1", m.samples)
	case m.every < time.Millisecond:
		return fmt.Errorf("--every %v: want at least 1ms", m.every)
	}
	connect, err := m.connect.connect()
	if err != nil {
		return err
	}
	bar := terminal.NewBar(out, "measuring", int64(m.samples*len(m.addrs)), terminal.Pieces)
	times, err := preflight.RoundTrips(ctx, m.addrs, connect, preflight.SamplingOptions{Samples: m.samples, Every: m.every, Asked: bar.Step})
	bar.Done()
	if err != nil {
		return advised(err)
	}
	var all []time.Duration
	for i, of := range times {
		printQuantiles(out, m.addrs[i], of)
		all = append(all, of...)
	}
	if len(times) > 1 {
		printQuantiles(out, "all", all)
	}
	_, _ = fmt.Fprintln(out, "measured now and from here: rarer delays and other times of day are not covered")
	if len(m.addrs) != q.Nodes {
		_, _ = fmt.Fprintf(out, "%s measured, but the advice is for %s (nodes)\n", textfmt.Count(len(m.addrs), "server"), textfmt.Count(q.Nodes, "node"))
	}
	q.RoundTrip = nemesis.Distribution{Samples: all}
	return nil
}

func printQuantiles(out io.Writer, name string, times []time.Duration) {
	times = slices.Sorted(slices.Values(times))
	at := func(perMille int) string { return textfmt.Duration(times[(len(times)-1)*perMille/1000]) }
	_, _ = fmt.Fprintf(out, "%s: %s, least %s, p50 %s, p90 %s, p99 %s, most %s\n",
		name, textfmt.Count(len(times), "sample"), at(0), at(500), at(900), at(990), at(1000))
}
