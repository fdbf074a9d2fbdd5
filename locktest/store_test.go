package locktest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// shop is a store with members that cannot be started: they are killed at best.
var shop = locktest.NewStore(&live.StoreServers{
	Product: "shop", Port: 99, MaxNodes: 4, Handlers: slices.Concat(live.Anywhere(), live.Outages()),
	Installed: func() error { return errors.New("shop not found: install it (apt-get install shop)") },
	CheckTTL: func(ttl time.Duration) error {
		if ttl < time.Second {
			return fmt.Errorf("%v: too short for a shop", ttl)
		}
		return nil
	},
})

// Law: what the store cannot have is an error that names the field.
func TestFieldsThatAStoreCannotHave(t *testing.T) {
	for field, c := range map[string]locktest.Config{
		"Backend":     {},
		"Nodes":       {Backend: locktest.Process, Nodes: 5},
		"TTL":         {Backend: locktest.Process, TTL: 500 * time.Millisecond},
		"Persistence": {Backend: locktest.Process, Persistence: nemesis.EverySecond},
	} {
		c.Store = shop
		err := locktest.Try(t, c, locktest.Storm{Name: "calm"}, 1, nil).Err
		var wrong *locktest.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Missing servers are one line that says what to install, and nothing is run.
func TestMissingServersOfAStore(t *testing.T) {
	text := runInner(t, "missing", t.TempDir())
	if !strings.Contains(text, "locktest: shop not found: install it (apt-get install shop)") || strings.Contains(text, "TestInner/") {
		t.Errorf("not told, or something was run:\n%s", text)
	}
}

// The default storms are those that the servers can carry out. Nodes come back with their keys.
func TestStormsInAStore(t *testing.T) {
	var names []string
	for _, s := range locktest.Storms(locktest.Config{Backend: locktest.Process, Store: shop}) {
		names = append(names, s.Name)
		if strings.Contains(s.Summary, "without") && !strings.Contains(s.Summary, "without pause") {
			t.Errorf("%s: %s", s.Name, s.Summary)
		}
	}
	for name, want := range map[string]bool{"calm": true, "minority-down": true, "holder-cut-off": true, "node-off": false, "node-stands-still": false, "node-clock-jumps": false} {
		if slices.Contains(names, name) != want {
			t.Errorf("%s is in %v: want %v", name, names, want)
		}
	}
}
