package leaderelectiontest

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// Law: the durations keep their proportions, and LeaseDuration is the TTL. A configuration without
// one stays, so that client-go rejects it.
func TestScaled(t *testing.T) {
	type durations struct{ lease, renew, retry time.Duration }
	for given, want := range map[durations]durations{
		{15 * time.Second, 10 * time.Second, 2 * time.Second}: {3 * time.Second, 2 * time.Second, 400 * time.Millisecond},
		{0, 10 * time.Second, 2 * time.Second}:                {0, 10 * time.Second, 2 * time.Second},
	} {
		c := scaled(leaderelection.LeaderElectionConfig{LeaseDuration: given.lease, RenewDeadline: given.renew, RetryPeriod: given.retry}, 3*time.Second)
		if got := (durations{c.LeaseDuration, c.RenewDeadline, c.RetryPeriod}); got != want {
			t.Errorf("%v becomes %v, not %v", given, got, want)
		}
	}
}
