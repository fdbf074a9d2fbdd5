//go:build linux

package zookeeper

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func TestMain(m *testing.M) {
	storetest.OrphanMain(m, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, settingOf(3), 1) })
}

// A program that is killed leaves no servers and no files.
func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) { storetest.NothingSurvives(t, 3) }

func settingOf(members int) nemesis.Setting { return nemesis.Setting{Nodes: members} }

// fleet is a fleet and a client of it.
type fleet struct{ *storetest.Fleet }

// openFleet opens a fleet that has to leave nothing behind when the test ends, and no
// goroutines of the library.
func openFleet(t *testing.T, members int) *fleet {
	t.Helper()
	t.Cleanup(func() {
		storetest.Eventually(t, "the library has no goroutines", func() bool {
			stacks := make([]byte, 1<<22)
			return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "go-zookeeper")
		})
	})
	return &fleet{storetest.Open(t, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, settingOf(members), 1) })}
}

func (f *fleet) server(node int) *Server { return f.Servers[node-1].(*Server) }

func (f *fleet) all() (list []*Server) {
	for _, s := range f.Servers {
		list = append(list, s.(*Server))
	}
	return list
}

// leader returns the member that leads, at some time.
func (f *fleet) leader() *Server {
	f.T.Helper()
	var leader *Server
	storetest.Eventually(f.T, "there is a leader", func() bool {
		leader = leaderOf(f.T.Context(), f.all())
		return leader != nil
	})
	return leader
}
