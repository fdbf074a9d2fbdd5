package stores

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/stores/redis"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Members lose power as they are, and not as Redis' append-only file does. Redis under Sentinel, or as a
// cluster, does not lose power.
func TestLossesOfPower(t *testing.T) {
	for _, p := range Products() {
		able := nemesis.Ability{Name: p.Product, Kinds: p.Faults(), Features: p.Features()}
		for text, loss := range map[string]*nemesis.PowerLoss{
			"plain": {Node: 1}, "delayed": {Node: 1, RestartDelay: 1},
			"stuck": {Node: 1, StuckSync: 1}, "torn": {Node: 1, TornTail: nemesis.TornLoad}, "refusing": {Node: 1, TornTail: nemesis.TornRefuse},
		} {
			_, isRedis := p.client.(redis.Store)
			refused := able.Refuse(nemesis.Plan{{Action: loss}}) != nil
			if want := isRedis || loss.StuckSync > 0 || loss.TornTail != ""; refused != want {
				t.Errorf("%s, %s: refused %v, want %v", p.Product, text, refused, want)
			}
		}
	}
}

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
