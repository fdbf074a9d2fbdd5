package rivals

import "strconv"

// NewEtcd returns the Mutex of etcd's client package concurrency: a key under the
// resource that is named after the session's lease, in the order of the revisions that
// created them, and a wait for the key before it to be deleted. The fence is the
// revision. After the wait it looks whether its own key is still there.
//
// As there, a session has one key for a resource: of two calls of Lock at a time,
// one spins.
func NewEtcd(c SessionConfig, p Ports) (*Mutex, error) { return newEtcd(c, p, false) }

// NewEtcdUnchecked returns the same as older clients had it, which do not look: a
// session that ends in the wait is not noticed, and neither does the user listen
// for its end. Without heartbeats nothing tells either that the node it waits at has
// gone dark: such a wait can last for ever.
func NewEtcdUnchecked(c SessionConfig, p Ports) (*Mutex, error) { return newEtcd(c, p, true) }

func newEtcd(c SessionConfig, p Ports, unchecked bool) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return newStoreMutex(c.Config, p, &queue{
		sessions: sessions{heartbeat: c.Heartbeat, unchecked: unchecked},
		key: func(a *attempt) string {
			return path(a.resource) + "/" + strconv.FormatUint(a.member.session.id, 16)
		},
	})
}
