package wire

import (
	"fmt"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Link is what lies between one client and one node.
type Link struct {
	Requests *Way // from the client to the node
	Replies  *Way // from the node to the client

	proxy *toxiproxy.Proxy
}

// Addr is where the client finds the node: host:port on loopback. It stays the
// same as long as the network lives.
func (l *Link) Addr() string { return l.proxy.Listen }

// Lead lets the link lead to another address from now on. Connections over it end.
func (l *Link) Lead(addr string) error {
	return l.proxy.Update(&toxiproxy.Proxy{Listen: l.proxy.Listen, Upstream: addr, Enabled: true})
}

// Each does something to the ways of a direction.
func (l *Link) Each(direction nemesis.Direction, do func(*Way)) {
	if direction.Has(nemesis.Requests) {
		do(l.Requests)
	}
	if direction.Has(nemesis.Replies) {
		do(l.Replies)
	}
}

// Network is the links of all clients to all nodes.
type Network struct {
	links  [][]*Link // by client and node, from 0
	prefix string    // of keys
	closed chan struct{}
}

// Open makes a link to every node, given by its host:port, for each of the
// clients. Rules know keys without the prefix that the clients put in front of them.
func Open(clients int, nodes []string, prefix string) (*Network, error) {
	registerValve()
	n := &Network{prefix: prefix, closed: make(chan struct{})}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for client := 1; client <= clients; client++ {
		n.links = append(n.links, nil)
		for i, addr := range nodes {
			link, err := n.link(server, client, i+1, addr)
			if err != nil {
				n.Close()
				return nil, err
			}
			n.links[client-1] = append(n.links[client-1], link)
		}
	}
	return n, nil
}

func (n *Network) link(server *toxiproxy.ApiServer, client, node int, addr string) (*Link, error) {
	name := fmt.Sprintf("client-%d-node-%d", client, node)
	l := &Link{
		Requests: n.newWay(client, node, nemesis.Requests),
		Replies:  n.newWay(client, node, nemesis.Replies),
		proxy:    toxiproxy.NewProxy(server, name, "127.0.0.1:0", addr),
	}
	for direction, way := range map[string]*Way{"upstream": l.Requests, "downstream": l.Replies} {
		toxic, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(
			fmt.Sprintf(`{"type":%q,"stream":%q}`, valveType, direction)))
		if err != nil {
			return nil, fmt.Errorf("proxy %s: %w", name, err)
		}
		toxic.Toxic.(*valve).way = way // before the first connection
	}
	if err := l.proxy.Start(); err != nil {
		return nil, fmt.Errorf("proxy %s: %w", name, err)
	}
	return l, nil
}

// Link is the link of a client to a node, both from 1.
func (n *Network) Link(client, node int) *Link { return n.links[client-1][node-1] }

// Close ends all connections. What is held back is dropped.
func (n *Network) Close() {
	close(n.closed)
	for _, links := range n.links {
		for _, l := range links {
			l.proxy.Stop()
		}
	}
}
