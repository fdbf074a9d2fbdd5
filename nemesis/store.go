package nemesis

import "fmt"

// Store is a linearizable store that the nodes of a setting replicate, one of
// them leading. It serves as long as a majority of them runs; they keep what they
// have agreed on, whatever their persistence is. Client c is connected to node c
// at first, and beyond the last node from the first on again; node 1 leads at
// first. Requests to a store travel as those to nodes do, but the setting's
// connections do not concern them: one of them waits for no other.
type Store struct {
	// Election is how long it takes from the loss of the leader, whose server goes
	// down or stands still, until another node leads.
	Election Distribution `yaml:"election"`

	// Commit is how long a change takes to be replicated, before it is answered.
	Commit Distribution `yaml:"commit"`

	// Asynchronous says that changes are answered before they are replicated: one
	// node alone serves, and a new leader lacks what had not been replicated when
	// the old one was lost, as with a database and its asynchronous replica.
	Asynchronous bool `yaml:"asynchronous,omitempty"`
}

func (s *Store) validate() error {
	if s == nil {
		return nil
	}
	if err := s.Election.Consistent(); err != nil {
		return field("election", err)
	}
	return field("commit", s.Commit.Consistent())
}

func (s *Store) String() string {
	if s.Asynchronous {
		return fmt.Sprintf("a store whose replicas lag by %v", s.Commit.Range)
	}
	return "a replicated store"
}
