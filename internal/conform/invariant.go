package conform

import (
	"math/bits"
	"slices"
)

// The invariant: proof/invariant.dfy, V1 of proof/exclusion.dfy, and LateExtension of proof/late.dfy. Quantifiers
// over live rounds and copies that are alive go through the lists that [machine.prune] keeps. Of Sane what no step
// can change later is judged by the guards of the steps.

func (s *machine) Sane() bool {
	for i := range s.granted {
		if s.granted[i] && !s.HasQuorum(s.rounds[i].votes) {
			return false
		}
	}
	for _, lost := range s.lost {
		if lost > s.now {
			return false
		}
	}
	for n, k := range s.key {
		if !s.A4Own(stored{n, k}) {
			return false
		}
	}
	return true
}

func (s *machine) Distinct() bool { return len(s.tokens) == len(s.token) }

func (s *machine) Alive(k key) bool { return k.expires > s.now && !s.givenUp[k.token] }

func (s *machine) tokenOf(i round) string { return s.token[s.rounds[i].try] }

func (s *machine) Keeps(i round, n int) bool {
	k, has := s.key[n]
	return has && k.token == s.tokenOf(i) && k.voted && k.expires >= s.rounds[i].ends()
}

func (s *machine) Silent(i round, n int) bool {
	lost, has := s.lost[n]
	return has && lost+s.quiet >= s.rounds[i].ends()
}

func (s *machine) Backed() bool {
	for _, i := range s.live {
		for votes := s.rounds[i].votes; votes != 0; votes &= votes - 1 {
			if n := bits.TrailingZeros64(votes) + 1; !s.Keeps(i, n) && !s.Silent(i, n) {
				return false
			}
		}
	}
	return true
}

func (s *machine) Current() bool {
	return !slices.ContainsFunc(s.past, func(p stored) bool {
		if !s.Alive(p.key) {
			return false
		}
		k, has := s.key[p.node]
		return !(has && k.token == p.key.token && k.expires >= p.key.expires &&
			(!p.key.voted || k.voted && k.since <= p.key.since))
	})
}

func (s *machine) NoOther() bool {
	for _, i := range s.live {
		for _, p := range s.past {
			if s.rounds[i].votes&bit(p.node) != 0 && p.key.voted && s.Alive(p.key) && p.key.token != s.tokenOf(i) {
				return false
			}
		}
	}
	return true
}

func (s *machine) OneVote() bool {
	for _, i := range s.live {
		for _, j := range s.live {
			if s.rounds[i].votes&s.rounds[j].votes != 0 && s.rounds[i].try != s.rounds[j].try {
				return false
			}
		}
	}
	return true
}

// V1 is the theorem: granted rounds that are live belong to one try.
func (s *machine) V1() bool {
	for _, i := range s.live {
		for _, j := range s.live {
			if s.granted[i] && s.granted[j] && s.rounds[i].try != s.rounds[j].try {
				return false
			}
		}
	}
	return true
}

func (r *roundState) RestsBefore(instant Time) bool { return r.newest < instant }

// LateExtension is the theorem: a round that holds the lock has a vote for a key that was first voted for after
// all others held it. Those that hold it still are V1's.
func (s *machine) LateExtension() bool {
	for _, i := range s.live {
		r := &s.rounds[i]
		if s.HasQuorum(r.votes) {
			for h, held := range s.held {
				if h != r.try && r.RestsBefore(held) {
					return false
				}
			}
		}
	}
	return true
}

// Inv returns the names of the parts of the invariant that do not hold, and the theorems that do not.
func (s *machine) Inv() []string {
	return failing(
		guard{"Sane", s.Sane()},
		guard{"Distinct", s.Distinct()},
		guard{"Backed", s.Backed()},
		guard{"Current", s.Current()},
		guard{"NoOther", s.NoOther()},
		guard{"OneVote", s.OneVote()},
		guard{"V1", s.V1()},
		guard{"LateExtension", s.LateExtension()})
}
