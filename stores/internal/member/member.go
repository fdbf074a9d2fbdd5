// Package member starts the members of a store that replicates itself. Each is a process that has
// links to the others.
package member

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// Member is a member of a store. Clients find it at its first port.
type Member struct {
	*child.Daemon
	Number int // from 1
}

// Addr implements [live.Server].
func (m *Member) Addr() string { return m.Ports[0].Addr() }

// Kind says how members of a product are started.
type Kind[S any] struct {
	Ports        int           // of each member
	StartTimeout time.Duration // of one member, until it answers
	QuitTimeout  time.Duration // of a clean shutdown

	// New makes a server of a member. It sets Name, Command and Await of its [child.Daemon].
	New func(*Member) S

	// Connect makes the links between the members, before they are started.
	Connect func([]S) (live.PeerLinks, error)

	// Ready returns when the members serve.
	Ready func(context.Context, []S) error
}

// Start starts the members, and returns them with their links, also after an error.
func (k Kind[S]) Start(ctx context.Context, group *child.Group, members int) (servers []S, links live.PeerLinks, err error) {
	for number := 1; number <= members; number++ {
		d, err := group.Add(fmt.Sprintf("node-%d", number), k.Ports)
		if err != nil {
			return nil, nil, err
		}
		d.StartTimeout, d.QuitTimeout, d.QuitSignal = k.StartTimeout, k.QuitTimeout, syscall.SIGTERM
		servers = append(servers, k.New(&Member{Daemon: d, Number: number}))
	}
	if links, err = k.Connect(servers); err != nil {
		return nil, nil, err
	}
	if err := group.Start(ctx); err != nil {
		return nil, links, err
	}
	return servers, links, k.Ready(ctx, servers)
}
