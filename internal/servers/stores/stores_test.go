package stores

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/stores/etcd"
	"github.com/lockstorm/lockstorm/internal/servers/stores/redis"
	"github.com/lockstorm/lockstorm/nemesis"
)

// If servers do not start, and are too old, that is the reason which is reported.
func TestOldServers(t *testing.T) {
	failed := errors.New("flag provided but not defined")
	for version, want := range map[string]string{
		"3.4.23": failed.Error(), "3.10.0": failed.Error(), "": failed.Error(),
		"3.3.25": "etcd 3.3.25 is too old: want 3.4 or newer", "2.3.7": "etcd 2.3.7 is too old: want 3.4 or newer",
	} {
		p := Product{
			client: etcd.Store{}, oldest: "3.4", version: func(context.Context) string { return version },
			open: func(context.Context, nemesis.Setting, uint64) (live.Fleet, error) { return live.Fleet{}, failed },
		}
		if _, err := p.Open(t.Context(), nemesis.Setting{}, 1, nil); err == nil || err.Error() != want {
			t.Errorf("version %q: %v, want %s", version, err, want)
		}
	}
}

// Members lose power as they are, and not as Redis' append-only file does. Redis under Sentinel, or as a
// cluster, does not lose power.
func TestLossesOfPower(t *testing.T) {
	for _, p := range Products() {
		able := nemesis.Ability{Name: p.Product(), Kinds: p.Faults(), Features: p.Features()}
		for text, loss := range map[string]*nemesis.PowerLoss{
			"plain": {Node: 1}, "delayed": {Node: 1, RestartDelay: 1},
			"stuck": {Node: 1, StuckSync: 1}, "torn": {Node: 1, TornTail: nemesis.TornLoad}, "refusing": {Node: 1, TornTail: nemesis.TornRefuse},
		} {
			_, isRedis := p.client.(redis.Store)
			refused := able.Refuse(nemesis.Plan{{Action: loss}}) != nil
			if want := isRedis || loss.StuckSync > 0 || loss.TornTail != ""; refused != want {
				t.Errorf("%s, %s: refused %v, want %v", p.Product(), text, refused, want)
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
		if found, ok := Named(p.Product()); !ok || found.With(Programs{"other", "other"}).Product() != p.Product() || clients[p.Product()] == nil {
			t.Errorf("%s is not found", p.Product())
		}
	}
}
