package conform

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// The assumptions: proof/assumptions.dfy.

// A1 is decided by arithmetic, as WeightedMajorities (quorums.dfy) allows: two quorums that do not meet would
// have more votes than there are.
func A1(q history.Electorate) bool { return 2*q.Needed() > q.All }

func (s *machine) A2Fresh(a string) bool { return !s.tokens[a] }

func (s *machine) A2GivenUp(h try) bool { return s.done[h] }

func (s *machine) A2Compares(h try, k key) bool { return h < len(s.token) && k.token == s.token[h] }

func (s *machine) A3Absent(n int) bool {
	_, has := s.key[n]
	return !has
}

func (s *machine) A3Expired(k key) bool { return k.expires <= s.now }

func (s *machine) A3Own(h try, k key) bool {
	return h < len(s.token) && k.token == s.token[h] && k.expires > s.now
}

// A3Longer is that assumption.
func A3Longer(k key, expires Time) bool { return expires >= k.expires }

func (s *machine) A4Quiet(n int) bool {
	lost, has := s.lost[n]
	return !has || lost+s.quiet <= s.now
}

func (s *machine) A4Long(lease Time) bool { return lease <= s.quiet }

func (s *machine) A4Extends(n int, k key) bool {
	lost, has := s.lost[n]
	return (!has || lost+s.quiet <= s.now) || k.voted
}

func (s *machine) A4Own(p stored) bool {
	for _, older := range slices.Backward(s.archive) {
		if older == p {
			return true
		}
	}
	return slices.Contains(s.past, p)
}

// A5 is that assumption.
func A5(lease, keep Time) bool { return lease <= keep }

func (s *machine) A6Read(read Time) bool { return read <= s.now }

func (s *machine) A6Check(r *roundState) bool { return s.now < r.ends() }

// F1 is that assumption.
func F1(before, after uint64) bool { return before <= after }
