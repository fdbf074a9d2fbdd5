package redlock_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// The error of a try names the nodes that were silent.
func TestQuorumErrorNamesSilentNodes(t *testing.T) {
	play(t, nemesis.Plan{partition([]int{1, 2, 3}, nemesis.At(0), nil)}, func(b *bench, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("try", err, redlock.ErrNoQuorum)
		for _, node := range []string{"node 1", "node 2", "node 3"} {
			if !strings.Contains(err.Error(), node) {
				t.Errorf("%v: does not name %s", err, node)
			}
		}
	})
}
