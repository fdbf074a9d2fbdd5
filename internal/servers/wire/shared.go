package wire

import (
	"fmt"
	"net"
)

// OpenShared makes a network on loopback in which all clients find a node at the same address, for
// servers that cannot give each client an address of its own. dialler returns the number of the
// client that has made a connection, from 1; a connection of anybody else (0) is closed.
func OpenShared(clients int, nodes []string, dialler func(conn net.Conn) int) (*Network, error) {
	listeners := make([]net.Listener, len(nodes))
	n, err := newNetwork().connect(clients, len(nodes), func(l *Link, client, node int) (err error) {
		if client == 1 { // the others use the same one
			if listeners[node-1], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
				return fmt.Errorf("proxy of node %d: %w", node, err)
			}
		}
		l.path = newProxy(listeners[node-1], nodes[node-1], l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, listener := range listeners {
		n.share(listener, i+1, dialler)
	}
	return n, nil
}

// share accepts connections to a node until the listener is closed, and hands each to the link of
// the client that has made it. No path of the node stops before that.
func (n *Network) share(listener net.Listener, node int, dialler func(net.Conn) int) {
	proxies := make([]*proxy, len(n.links))
	for i, links := range n.links {
		proxies[i] = links[node-1].path.(*proxy)
		proxies[i].running.Add(1)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				break
			}
			if client := dialler(conn); client == 0 || !proxies[client-1].connect(conn) {
				_ = conn.Close()
			}
		}
		for _, p := range proxies {
			p.running.Done()
		}
	}()
}
