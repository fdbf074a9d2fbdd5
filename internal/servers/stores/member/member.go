// Package member starts the members of a store that replicates itself. Each is a process that keeps
// its data on a disk of its own, and has links to the others.
package member

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/disk"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Member is a member of a store. Clients find it at its first port.
type Member struct {
	*child.Daemon
	Number int    // from 1
	Data   string // the directory of its data

	disk *disk.Disk // nil: it cannot lose power
}

// Addr implements [live.Server].
func (m *Member) Addr() string { return m.Ports[0].Addr() }

// Losable reports whether the member can lose power.
func (m *Member) Losable() bool { return m.disk != nil }

// LosePower implements [live.Powered].
func (m *Member) LosePower(aof.Loss) error {
	m.Kill()
	return m.disk.Cut()
}

// Syncs implements [live.SyncCounter].
func (m *Member) Syncs() int64 { return m.disk.Syncs() }

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

// Start starts a member for each node of the setting, and returns them with their links, also after an
// error. What they have written by then counts as synced, as that of a store that has run for a
// while.
func (k Kind[S]) Start(ctx context.Context, group *child.Group, s nemesis.Setting) (servers []S, links live.PeerLinks, err error) {
	var members []*Member
	for number := 1; number <= s.Nodes; number++ {
		m, err := k.add(group, number, s)
		if err != nil {
			return nil, nil, err
		}
		members, servers = append(members, m), append(servers, k.New(m))
	}
	if links, err = k.Connect(servers); err != nil {
		return nil, nil, err
	}
	if err := group.Start(ctx); err != nil {
		return nil, links, err
	}
	err = k.Ready(ctx, servers)
	for _, m := range members {
		m.disk.SyncAll()
	}
	return servers, links, err
}

// add adds a member to the group. It does not start it.
func (k Kind[S]) add(group *child.Group, number int, s nemesis.Setting) (*Member, error) {
	d, err := group.Add(fmt.Sprintf("node-%d", number), k.Ports)
	if err != nil {
		return nil, err
	}
	d.StartTimeout, d.QuitTimeout, d.QuitSignal = k.StartTimeout, k.QuitTimeout, syscall.SIGTERM
	m := &Member{Daemon: d, Number: number}
	m.disk, m.Data, err = disk.Attach(s.Plan.CutsPower(), group, d)
	return m, err
}
