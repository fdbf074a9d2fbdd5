package rivals

// NewZooKeeper returns the lock of the recipes page of the ZooKeeper documentation
// ("Locks"): an ephemeral sequential node, whose name bears a guid so that one whose
// creation was not answered is found again, and a watch on the node before it. The
// fence is the node's czxid.
//
// The recipe says nothing of how long the holder may rely on its session. Here that
// is until the session's deadline: see [SessionConfig].
func NewZooKeeper(c SessionConfig, p Ports) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return newStoreMutex(c.Config, p, &queue{
		sessions:   sessions{heartbeat: c.Heartbeat},
		key:        func(a *attempt) string { return path(a.resource) + "/" + a.token + "-" },
		sequential: true,
	})
}
