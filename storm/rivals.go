package storm

import (
	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/scenarios"
)

// locksConfig is what the locks of package locks have in common.
func locksConfig(l scenarios.Lock) locks.Config {
	return locks.Config{
		TTL:       l.TTL,
		Allowance: redlockAllowance(l),
		Clock:     l.ReadsClock(),
		Timeout:   l.NodeTimeout,
		Margin:    l.Margin,
		RetryMin:  l.Retry.Min,
		RetryMax:  l.Retry.Max,
		Tries:     l.Tries,
	}
}
