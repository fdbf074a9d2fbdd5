package nemesis

import "errors"

// What faults of a store have in common: one happens at an instant, to the whole store. The setting has to give
// the nodes a store that loses nothing that it has answered.

func requiresLossless(s Setting) error {
	switch {
	case s.Store == nil:
		return errors.New("nothing has sessions: the setting has no store")
	case s.Store.Forgets():
		return errors.New("a store that loses changes would have to lose this one, too, which is not modelled")
	}
	return nil
}

var sessionsOfStore = []string{"the sessions of the store"}

var atOnce = ending{forbidden: "it happens at an instant, and nothing takes it back"}

// LeaseRevoked ends all sessions of a store at once, as a leader does that was stuck: it
// has counted while it did not see heartbeats, and revokes leases that others have
// renewed meanwhile (etcd-io/etcd#15247).
type LeaseRevoked struct{}

// Kind is "lease-revoked".
func (*LeaseRevoked) Kind() Kind { return "lease-revoked" }

func (*LeaseRevoked) about() string {
	return "a store ends all its sessions, although their clients keep them alive"
}

func (*LeaseRevoked) String() string { return "the store revokes the leases of all sessions" }

func (*LeaseRevoked) requires(s Setting) error { return requiresLossless(s) }

func (*LeaseRevoked) validate(s Setting) error { return requiresLossless(s) }

func (*LeaseRevoked) claims(Setting) []string { return sessionsOfStore }

func (*LeaseRevoked) ending() ending { return atOnce }

// Effects implements [Action].
func (*LeaseRevoked) Effects(Setting) Effects { return Effects{Does: RevokesLeases} }

func (*LeaseRevoked) random(*paramGenerator) Action { return &LeaseRevoked{} }

// TTLRestart restarts the time to live of all that expires in a store, as a new leader does
// that does not know how much of it has passed (etcd-io/etcd#13294).
type TTLRestart struct{}

// Kind is "ttl-restart".
func (*TTLRestart) Kind() Kind { return "ttl-restart" }

func (*TTLRestart) about() string {
	return "a store counts the time to live of all sessions and keys anew"
}

func (*TTLRestart) String() string { return "the store counts every time to live anew" }

func (*TTLRestart) requires(s Setting) error { return requiresLossless(s) }

func (*TTLRestart) validate(s Setting) error { return requiresLossless(s) }

func (*TTLRestart) claims(Setting) []string { return sessionsOfStore }

func (*TTLRestart) ending() ending { return atOnce }

// Effects implements [Action].
func (*TTLRestart) Effects(Setting) Effects { return Effects{Does: RestartsTTLs} }

func (*TTLRestart) random(*paramGenerator) Action { return &TTLRestart{} }
