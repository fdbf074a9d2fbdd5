package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Options configures [Examine].
type Options struct {
	// Write says that a lock's commands are tried on a key with a random name, which is deleted
	// again and lives for 10 seconds at most.
	Write bool

	// Pings is how many PINGs each server gets, one every PingInterval. 0 means 100, and 20 ms.
	Pings        int
	PingInterval time.Duration
}

// Report is what is known of the servers.
type Report struct {
	Verdict  Severity  `json:"verdict"` // the worst severity of a finding
	Servers  []Server  `json:"servers"`
	Findings []Finding `json:"findings"` // the worst first
	Facts    Facts     `json:"facts"`
}

// Server is one address.
type Server struct {
	Address string `json:"address"`
	Version string `json:"version,omitempty"`
	Role    string `json:"role,omitempty"` // master, slave or sentinel
	RunID   string `json:"run_id,omitempty"`

	Uptime    Duration   `json:"uptime,omitempty"`
	RoundTrip *RoundTrip `json:"round_trip,omitempty"` // nil: no PING was answered
	Clock     *Clock     `json:"clock,omitempty"`      // nil: it was not read
}

// RoundTrip summarises the round-trip times of PINGs.
type RoundTrip struct {
	Samples int      `json:"samples"`
	Least   Duration `json:"least"`
	Median  Duration `json:"median"`
	P99     Duration `json:"p99"`
	Most    Duration `json:"most"`
}

// Clock is how far the server's wall clock is ahead of this machine's, and the error of that: half
// of the round trip.
type Clock struct {
	Ahead Duration `json:"ahead"`
	Error Duration `json:"error"`
}

// Duration is a duration that JSON has as text, as in 1.5ms.
type Duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Examine reads the servers at the addresses: HOST:PORT, redis:// or rediss:// (see [parse]).
// The error is one about the addresses: one that is malformed, a password that is wrong, a server
// that is no Redis; or all of them, if no server replies. It names no password. Servers that cannot
// be reached while others can, or not before ctx ends, are findings.
func Examine(ctx context.Context, addresses []string, o Options) (Report, error) {
	targets, err := parseAll(addresses)
	if err != nil {
		return Report{}, err
	}
	o.Pings, o.PingInterval = cmp.Or(o.Pings, 100), cmp.Or(o.PingInterval, 20*time.Millisecond)
	read := make([]reading, len(targets))
	var reading sync.WaitGroup
	for i, t := range targets {
		reading.Go(func() { read[i] = t.read(ctx, o) })
	}
	reading.Wait()
	if err := inputError(read); err != nil {
		return Report{}, err
	}
	return newReport(read), nil
}

// inputError returns an error if an address is wrong, or no server replied.
func inputError(all []reading) error {
	var wrong, unreachable []string
	for _, r := range all {
		text := r.address + ": " + fmt.Sprint(r.err)
		switch {
		case r.err == nil:
		case errors.As(r.err, new(inputFault)):
			wrong = append(wrong, text)
		default:
			unreachable = append(unreachable, text)
		}
	}
	if len(wrong) == 0 && len(unreachable) == len(all) {
		wrong = unreachable
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}
