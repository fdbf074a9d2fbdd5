package live

import (
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// PeerLinks are proxies between members: networks with a link from each member, as a client, to each
// other one. A store has one for each port at which its members connect to each other.
type PeerLinks []*wire.Network

// SharedLinks makes the links between members that all others find at one address, in front of the
// second port of each, and returns these addresses. The proxy at an address looks which member has made a
// connection.
func SharedLinks(members []*child.Daemon) (PeerLinks, []string, error) {
	ports := make([]string, len(members))
	for i, m := range members {
		ports[i] = m.Ports[1].Addr()
	}
	links, err := wire.OpenShared(len(members), ports, child.WhoDialled(members))
	if err != nil {
		return nil, nil, err
	}
	addrs := make([]string, len(members))
	for i := range addrs {
		addrs[i] = links.Link(1, i+1).Addr()
	}
	return PeerLinks{links}, addrs, nil
}

// peerRule is the number of the rule on cut links. There is no other rule on them.
const peerRule = 1

// Cut implements [Peers].
func (p PeerLinks) Cut(apart *nemesis.PeerPartition) {
	p.each(func(from, to int, l *wire.Link) {
		if apart.Apart(from, to) {
			l.Each(nemesis.Both, func(d *wire.Direction) { d.Impose(peerRule, nemesis.HoldAll()) })
		}
	})
}

// Mend implements [Peers].
func (p PeerLinks) Mend() {
	p.each(func(_, _ int, l *wire.Link) {
		l.Each(nemesis.Both, func(d *wire.Direction) { d.Lift(peerRule) })
	})
}

func (p PeerLinks) each(do func(from, to int, l *wire.Link)) {
	for _, network := range p {
		for from := 1; from <= network.Clients(); from++ {
			for to := 1; to <= network.Clients(); to++ {
				do(from, to, network.Link(from, to))
			}
		}
	}
}

// Close closes the links.
func (p PeerLinks) Close() {
	for _, network := range p {
		network.Close()
	}
}

// PeerPartitions returns the handler for a fleet whose members have [Peers]. The links of clients to
// members without a majority count as down: no client can expect a reply.
func PeerPartitions() FaultHandlers {
	minority := func(w *World, f injection[*nemesis.PeerPartition]) nemesis.Links {
		return nemesis.Links{Nodes: f.Action.Minority(w.setting.Nodes)}
	}
	return FaultHandlers{
		handler[*nemesis.PeerPartition]{
			Begin: func(w *World, f injection[*nemesis.PeerPartition]) error {
				w.links.Disturb(minority(w, f), untouched)
				w.fleet.Peers.Cut(f.Action)
				return nil
			},
			End: func(w *World, f injection[*nemesis.PeerPartition]) error {
				w.fleet.Peers.Mend()
				w.links.Mend(minority(w, f), untouched)
				return nil
			},
		},
	}
}
