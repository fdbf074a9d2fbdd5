package stores

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/stores/etcd"
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
