package wire

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Network holds the links of all clients to all nodes.
type Network struct {
	links   [][]*Link // by client and node, from 0
	closed  chan struct{}
	running sync.WaitGroup // the goroutines of all links
}

// Open makes a network of proxies on loopback: for each client a link to every node, given
// as host:port.
func Open(clients int, nodes []string) (*Network, error) {
	n := newNetwork(clients, tcpHosts(nodes))
	for client, links := range n.links {
		for node, l := range links {
			if err := n.listen([]*Link{l}, func(net.Conn) int { return 1 }); err != nil {
				n.Close()
				return nil, fmt.Errorf("proxy of client %d and node %d: %w", client+1, node+1, err)
			}
		}
	}
	return n, nil
}

// OpenShared makes a network on loopback in which all clients find a node at the same address, for
// servers that cannot give each client an address of its own. dialler returns the number of the
// client that has made a connection, from 1; a connection of anybody else (0) is closed.
func OpenShared(clients int, nodes []string, dialler func(conn net.Conn) int) (*Network, error) {
	n := newNetwork(clients, tcpHosts(nodes))
	for node := range nodes {
		var links []*Link
		for _, ofClient := range n.links {
			links = append(links, ofClient[node])
		}
		if err := n.listen(links, dialler); err != nil {
			n.Close()
			return nil, fmt.Errorf("proxy of node %d: %w", node+1, err)
		}
	}
	return n, nil
}

// OpenInMemory makes a network without sockets: for each client a link to every node.
// Faults act on its directions as on those of proxies. Its goroutines block on channels and
// timers only, so it may live in a bubble of testing/synctest, where time is virtual.
// Connecting takes no time; a node that is down refuses at once.
func OpenInMemory(clients int, nodes []Host) *Network { return newNetwork(clients, nodes) }

// newNetwork gives each client a link to each node. Clients and nodes are numbered from 1.
func newNetwork(clients int, nodes []Host) *Network {
	n := &Network{closed: make(chan struct{})}
	for client := 1; client <= clients; client++ {
		var links []*Link
		for i, host := range nodes {
			links = append(links, newLink(n, client, i+1, host))
		}
		n.links = append(n.links, links)
	}
	return n
}

// listen makes links listen on a port that they share. dialler returns the number of the link for a
// connection, from 1, or 0.
func (n *Network) listen(links []*Link, dialler func(net.Conn) int) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	for _, l := range links {
		l.listener, l.addr = listener, listener.Addr().String()
	}
	n.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the network is closed
			}
			if number := dialler(conn); number > 0 {
				links[number-1].accept(conn)
			} else {
				_ = conn.Close()
			}
		}
	})
	return nil
}

// Link returns the link of a client to a node, both numbered from 1.
func (n *Network) Link(client, node int) *Link { return n.links[client-1][node-1] }

// Clients returns how many clients have links.
func (n *Network) Clients() int { return len(n.links) }

// Dialer returns a function that connects a client to the node at a [Link.Addr].
func (n *Network) Dialer(client int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		for _, l := range n.links[client-1] {
			if l.Addr() == addr {
				return l.Dial(ctx)
			}
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.AddrError{Err: "no such node", Addr: addr}}
	}
}

// KeepAlive makes the node's end of each connection close when its link has let nothing pass in a
// direction for so long, as servers close connections whose keepalive probes are not answered. Those
// of the nodes themselves are of no use: the machine of the proxy answers them. It has to be called
// before there are faults.
func (n *Network) KeepAlive(after time.Duration) {
	for _, links := range n.links {
		for _, l := range links {
			l.Each(nemesis.Both, func(d *Direction) { d.keepAlive = after })
		}
	}
}

// Close closes all connections, and returns when all goroutines have ended. Messages that are held
// back are dropped.
func (n *Network) Close() {
	close(n.closed)
	for _, links := range n.links {
		for _, l := range links {
			l.close()
		}
	}
	n.running.Wait()
}
