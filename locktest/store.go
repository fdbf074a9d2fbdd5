package locktest

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Store is a replicated store that keeps the lock. The packages etcdtest, postgrestest
// and zookeepertest have one each. The zero value means that the nodes are independent Redis
// servers.
type Store struct{ servers *live.StoreServers }

// NewStore returns the store with these servers. It is for the packages that have one.
func NewStore(servers *live.StoreServers) Store { return Store{servers.Unwatched()} }

// String returns the product's name, as in stored runs, or "" for the zero value.
func (s Store) String() string {
	if s.servers == nil {
		return ""
	}
	return s.servers.Product
}

// is reports whether there is a store.
func (s Store) is() bool { return s.servers != nil }

// world returns how the backend with the store's servers is used.
func (s Store) world() backendInfo {
	b := runnerBackend(s.servers)
	b.Idle = false // the servers keep the cores busier than Redis does
	return backendInfo{Backend: b, runs: 1, again: -1, budget: realBudget}
}

// electionTime is the time from the loss of a leader to the next one, of stores that have no
// failover of their own.
const electionTime = 500 * time.Millisecond

// setting returns the store as a setting has it, or nil.
func (s Store) setting() *nemesis.Store {
	if !s.is() {
		return nil
	}
	election := nemesis.Range{Min: electionTime, Max: electionTime}
	return &nemesis.Store{
		Product: s.servers.Product, Asynchronous: s.servers.Asynchronous,
		Election: nemesis.Distribution{Range: election}, Commit: nemesis.Distribution{Range: s.servers.Commit},
	}
}

// validateStore checks the fields that depend on the store.
func (c Config) validateStore() error {
	if !c.Store.is() {
		return nil
	}
	s := c.Store.servers
	switch {
	case c.Backend != Process:
		return wrong("Backend", "%v: %s has no servers in memory: want locktest.Process", c.Backend, s.Product)
	case s.MaxNodes > 0 && c.Nodes > s.MaxNodes:
		return wrong("Nodes", "%d: %s has at most %d", c.Nodes, s.Product, s.MaxNodes)
	case c.Persistence != nemesis.Always:
		return wrong("Persistence", "%q: the servers of %s keep what they have acknowledged: want nothing, or %q", c.Persistence, s.Product, nemesis.Always)
	}
	if err := c.Store.checkTTL(c.TTL); err != nil {
		return &FieldError{"TTL", err}
	}
	return nil
}

// checkTTL returns an error if the store cannot keep locks for a TTL. 0 is the one that it is asked for
// anyway.
func (s Store) checkTTL(ttl time.Duration) error {
	if !s.is() || s.servers.CheckTTL == nil || ttl == 0 {
		return nil
	}
	return s.servers.CheckTTL(ttl)
}

// installed returns an error if the store's servers are missing.
func (s Store) installed() error {
	if !s.is() {
		return nil
	}
	if err := s.servers.Installed(); err != nil {
		return fmt.Errorf("locktest: %w", err)
	}
	return nil
}

// external returns what the runner has to know of the lock in a scenario. Clients of the scenario beyond
// those of the configuration are callers that share a lock.
func (c Config) external(s scenarios.Scenario, build func(runner.ClientEnv) (runner.Lock, error)) runner.External {
	return runner.External{
		Name: c.Name, Build: build, Connected: c.Store.is() && c.Store.servers.Connected,
		Callers: len(s.Clients) / c.Clients, Capacity: c.Capacity, WallClock: true,
	}
}

// addrs returns the addresses of nodes. Real servers get addresses as those of nodes in memory:
// connecting to them without [Env.Dial] must fail.
func (s Store) addrs(nodes int) []string {
	list := make([]string, nodes)
	for i := range list {
		list[i] = memory.Addr(i + 1)
		if s.is() {
			host, _, _ := net.SplitHostPort(list[i])
			list[i] = net.JoinHostPort(host, strconv.Itoa(s.servers.Port))
		}
	}
	return list
}
