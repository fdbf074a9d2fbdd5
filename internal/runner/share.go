package runner

import (
	"math"

	"github.com/lockstorm/lockstorm/checker"
)

// shares lists the measurements that are shares: ratios of two sums over all runs. The part and
// the whole are not negative.
var shares = []struct {
	name string
	of   func(m checker.Measurements) (part, whole int64)
}{
	{"availability", func(m checker.Measurements) (part, whole int64) {
		return int64(m.Wanted - m.TotalOutage), int64(m.Wanted)
	}},
	{"lost_update_share", func(m checker.Measurements) (part, whole int64) {
		return int64(m.LostUpdates), int64(m.Updates)
	}},
	{"forgotten_grant_share", func(m checker.Measurements) (part, whole int64) {
		return int64(m.ForgottenGrants), int64(m.StoredGrants)
	}},
}

// squares are what the interval of a share needs besides the sums: the sums, over all runs, of
// the squares of the part and of the whole, and of their product.
type squares struct{ part, whole, mixed float64 }

// add adds one run.
func (s *squares) add(part, whole int64) {
	p, w := float64(part), float64(whole)
	s.part += p * p
	s.whole += w * w
	s.mixed += p * w
}

// interval returns the 95 % interval of the sum of the parts over that of the wholes of n runs, by
// linearization (Cochran, Sampling Techniques, 1977, section 6.4). Less than six runs have none.
func (s squares) interval(runs int, part, whole int64) (low, high float64, known bool) {
	if runs < 6 || whole == 0 {
		return 0, 0, false
	}
	n, sum := float64(runs), float64(whole)
	share := float64(part) / sum
	residue := s.part - 2*share*s.mixed + share*share*s.whole
	half := z * math.Sqrt(max(residue, 0)*n/(n-1)) / sum
	return max(share-half, 0), min(share+half, 1), true
}
