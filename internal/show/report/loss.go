package report

import (
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// forgottenGrants is the measurement of published results about grants that a store forgets. The others
// are about lost updates.
const forgottenGrants = "forgotten_grant_share"

// Loss returns how many updates or grants were lost, with the share in percent and its 95 % Wilson
// interval, as in "388 of 2252 updates, 17.2 % [15.7, 18.8]".
func Loss(measurement string, t runner.Tally) string {
	m := t.Measured.All()
	what, lost := "updates", runner.Rate{K: m.LostUpdates, N: m.Updates}
	if measurement == forgottenGrants {
		what, lost = "grants", runner.Rate{K: m.ForgottenGrants, N: m.StoredGrants}
	}
	return fmt.Sprintf("%d of %d %s, %s %s", lost.K, lost.N, what, lost.Percent(), lost.Interval())
}
