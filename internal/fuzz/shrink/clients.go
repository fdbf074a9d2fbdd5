package shrink

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// fewerClients keeps as few clients as it can. With a client the faults go that name
// it; or else what began at its steps begins at those of one that stays. Where a third
// client is there for one more grant, one that stays can ask twice.
func fewerClients(k *shrinking) {
	for kept := range k.going(subsets(len(k.best.Clients), 1)) {
		s := onlyClients(k.best, kept)
		if k.try(s) || k.tryStepsOf(kept) || k.tryRounds(s, kept) {
			return
		}
	}
}

// onlyClients keeps some clients, in the order of the list.
func onlyClients(s scenarios.Scenario, kept []int) scenarios.Scenario {
	all := s.Clients
	s = renumbered(s, keeping(kept, len(all)), nil)
	s.Clients = nil
	for _, c := range kept {
		s.Clients = append(s.Clients, all[c-1])
	}
	return s
}

// tryStepsOf lets what begins or ends at the steps of clients that go do so at those of
// one that stays.
func (k *shrinking) tryStepsOf(kept []int) bool {
	for _, c := range kept {
		s := k.best
		s.Setting = s.Clone()
		for i := range s.Plan {
			for _, m := range []*nemesis.Trigger{&s.Plan[i].Start, s.Plan[i].End} {
				if m != nil && m.Client != 0 && !slices.Contains(kept, m.Client) {
					m.Client = c
				}
			}
		}
		if k.try(onlyClients(s, kept)) {
			return true
		}
	}
	return false
}

// tryRounds lets a client that stays do the rounds of those that go as well. s is the
// scenario without them.
func (k *shrinking) tryRounds(s scenarios.Scenario, kept []int) bool {
	gone := 0
	for i, c := range k.best.Clients {
		if !slices.Contains(kept, i+1) {
			gone += c.Rounds
		}
	}
	for i := range s.Clients {
		more := s
		more.Clients = slices.Clone(s.Clients)
		more.Clients[i].Rounds += gone
		if k.try(more) {
			return true
		}
	}
	return false
}

// fewerRounds lets clients lock less often. What happens in a later round is brought
// forward with it.
func fewerRounds(k *shrinking) {
	for i := range k.best.Clients {
		for rounds := 1; rounds < k.best.Clients[i].Rounds && !k.over(); rounds++ {
			if k.tryRoundsOf(i, rounds, 0) || k.tryRoundsOf(i, rounds, k.best.Clients[i].Rounds-rounds) {
				break
			}
		}
	}
}

// tryRoundsOf tries so many rounds of one client, and what would happen at its steps
// so many times earlier.
func (k *shrinking) tryRoundsOf(i, rounds, earlier int) bool {
	s := k.best
	s.Clients = slices.Clone(s.Clients)
	s.Clients[i].Rounds = rounds
	if earlier > 0 {
		s.Setting = s.Clone()
		for n := range s.Plan {
			bringForward(&s.Plan[n].Start, i+1, earlier)
			bringForward(s.Plan[n].End, i+1, earlier)
		}
	}
	return k.try(s)
}

func bringForward(m *nemesis.Trigger, client, times int) {
	if m != nil && m.Client == client && m.Count > 0 {
		m.Count = max(0, m.Count-times)
		if m.Count == 1 {
			m.Count = 0
		}
	}
}
