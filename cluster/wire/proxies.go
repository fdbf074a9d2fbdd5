package wire

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Open makes a network of proxies on loopback: a link to every node, given by its
// host:port, for each of the clients. Rules know keys without the prefix that the clients
// put in front of them.
func Open(clients int, nodes []string, prefix string) (*Network, error) {
	registerToxic()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	return newNetwork(prefix).connect(clients, len(nodes), func(l *Link, client, node int) error {
		return l.proxy(server, fmt.Sprintf("client-%d-node-%d", client, node), nodes[node-1])
	})
}

// proxy lays a link as a proxy of that name, which listens on a port of its own.
func (l *Link) proxy(server *toxiproxy.ApiServer, name, addr string) error {
	listen, free, err := reserve()
	if err != nil {
		return fmt.Errorf("proxy %s: %w", name, err)
	}
	p := proxied{toxiproxy.NewProxy(server, name, listen, addr), new(atomic.Value), free}
	p.leads.Store(addr)
	l.path = p
	for direction, way := range map[string]*Direction{"upstream": l.Requests, "downstream": l.Replies} {
		toxic, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(
			fmt.Sprintf(`{"type":%q,"stream":%q}`, toxicType, direction)))
		if err != nil {
			return fmt.Errorf("proxy %s: %w", name, err)
		}
		toxic.Toxic.(*faultToxic).direction = way // before the first connection
	}
	if err := p.proxy.Start(); err != nil {
		return fmt.Errorf("proxy %s: %w", name, err)
	}
	return nil
}

// proxied is a path over a proxy.
type proxied struct {
	proxy *toxiproxy.Proxy
	leads *atomic.Value // to this address
	free  func()        // gives the port back
}

func (p proxied) addr() string { return p.proxy.Listen }

func (p proxied) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", p.addr())
}

func (p proxied) lead(addr string) error {
	p.leads.Store(addr)
	if err := p.proxy.Update(&toxiproxy.Proxy{Listen: p.proxy.Listen, Upstream: addr}); err != nil {
		return err // it ends connections, even if it leads there already
	}
	return p.proxy.Update(&toxiproxy.Proxy{Listen: p.proxy.Listen, Upstream: addr, Enabled: true})
}

func (p proxied) node() (Session, error) {
	conn, err := net.Dial("tcp", p.leads.Load().(string))
	return direct{conn}, err
}

// direct is a connection to a node without a proxy.
type direct struct{ net.Conn }

// Ask implements [Session].
func (d direct) Ask(piece []byte, _ time.Time) error {
	_, err := d.Write(piece)
	return err
}

func (p proxied) stop() {
	p.proxy.Stop()
	p.free()
}
