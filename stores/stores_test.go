package stores

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// Each product has a client of its name, and each client has a name of its own, by which processes of
// clients find it.
func TestClients(t *testing.T) {
	clients := map[string]live.Store{}
	for _, p := range Products() {
		for _, c := range p.Clients {
			if clients[c.Name()] != nil {
				t.Errorf("two clients are called %s", c.Name())
			}
			clients[c.Name()] = c
		}
		if clients[p.Product] == nil {
			t.Errorf("%s has no client", p.Product)
		}
	}
}
