package stores

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// Each client has a name of its own, by which processes of clients find it. Each product is found by
// its client's name, also with another redis-server.
func TestNames(t *testing.T) {
	clients := map[string]live.Store{}
	for _, c := range Clients() {
		if clients[c.Name()] != nil {
			t.Errorf("two clients are called %s", c.Name())
		}
		clients[c.Name()] = c
	}
	for _, name := range []string{"redis-sentinel-asynchronous", "redis-cluster-asynchronous"} {
		if clients[name] == nil {
			t.Errorf("no client is called %s", name)
		}
		if _, is := Named(name); is {
			t.Errorf("%s is a product", name)
		}
	}
	for _, p := range Products() {
		if found, ok := Named(p.Product); !ok || found.With(Programs{"other", "other"}).Product != p.Product || clients[p.Product] == nil {
			t.Errorf("%s is not found", p.Product)
		}
	}
}
