package live_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// If servers do not start, and are too old, that is the reason which is reported.
func TestOldServers(t *testing.T) {
	failed := errors.New("flag provided but not defined")
	for version, want := range map[string]string{
		"3.4.23": failed.Error(), "3.10.0": failed.Error(), "": failed.Error(),
		"3.3.25": "shop 3.3.25 is too old: want 3.4 or newer", "2.3.7": "shop 2.3.7 is too old: want 3.4 or newer",
	} {
		s := live.StoreServers{
			Product: "shop", Oldest: "3.4", Version: func(context.Context) string { return version },
			Start: func(context.Context, nemesis.Setting, uint64) (live.Fleet, error) { return live.Fleet{}, failed },
		}
		if _, err := s.Open(t.Context(), nemesis.Setting{}, 1, nil); err == nil || err.Error() != want {
			t.Errorf("version %q: %v, want %s", version, err, want)
		}
	}
}
