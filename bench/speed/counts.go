package speed

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// Counts are what servers have been asked to do, as they count it themselves.
type Counts struct {
	Bytes    int64 // that came and went
	Commands int64 // that were carried out, those within scripts too
}

// uncounted are the commands by which is counted, and those that begin a connection.
var uncounted = []string{"info", "config|resetstat", "hello", "ping"}

// Reset lets all servers count from 0.
func Reset(ctx context.Context, servers []*redisserver.Server) error {
	for _, s := range servers {
		if _, err := s.Do(ctx, "CONFIG", "RESETSTAT"); err != nil {
			return err
		}
	}
	return nil
}

// Count returns what all servers together have done since [Reset].
func Count(ctx context.Context, servers []*redisserver.Server) (sum Counts, err error) {
	for _, s := range servers {
		said, err := s.Do(ctx, "INFO", "stats", "commandstats")
		if err != nil {
			return sum, err
		}
		if err := sum.add(fmt.Sprint(said)); err != nil {
			return sum, fmt.Errorf("%s: %w", s.Addr(), err)
		}
	}
	return sum, nil
}

// add adds what INFO says.
func (c *Counts) add(info string) error {
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		command, isCommand := strings.CutPrefix(name, "cmdstat_")
		switch {
		case name == "total_net_input_bytes" || name == "total_net_output_bytes":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return err
			}
			c.Bytes += n
		case isCommand && !slices.Contains(uncounted, command):
			var n int64
			if _, err := fmt.Sscanf(value, "calls=%d,", &n); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
			c.Commands += n
		}
	}
	return nil
}
