package runner

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Lock is a lock as workloads use it.
type Lock interface {
	// Lock waits until the resource is acquired, the lock gives up or ctx
	// ends.
	Lock(ctx context.Context, resource string) (Hold, error)
}

// Hold is one grant as workloads use it.
type Hold interface {
	Resource() string
	Token() string
	// Context ends when the holder is notified that the lock is lost or about to expire.
	Context() context.Context
	// Check reads the clock and returns nil if the lock is held.
	Check() error
	// Fence is the number that the lock has drawn with the grant; 0: none.
	Fence() uint64
	Extend(ctx context.Context, ttl time.Duration) error
	Release(ctx context.Context) error
}

// adapter turns a lock whose holds have a type of their own into a [Lock].
type adapter[H Hold] struct {
	lock interface {
		Lock(ctx context.Context, resource string) (H, error)
	}
}

func (a adapter[H]) Lock(ctx context.Context, resource string) (Hold, error) {
	hold, err := a.lock.Lock(ctx, resource)
	if err != nil {
		return nil, err
	}
	return hold, nil
}

// ports are what a lock is built on: one client's view of a world.
type ports struct {
	client   int // its number
	runtime  env.Runtime
	nodes    env.Nodes
	store    env.Store // nil: the world has none
	observer env.Observer

	members int                                          // how many nodes there are
	dial    func(context.Context, int) (net.Conn, error) // connects to one of them; nil: the world cannot
	wall    func() time.Time                             // reads the client's wall clock; nil: likewise
	process *ProcessEnv                                  // nil: the world has no addresses for processes
}

// lockKind builds the locks of one kind. [building] completes one.
type lockKind struct {
	name string
	what string
	// quorum returns which nodes hold the lock. It is nil for a lock in a store.
	quorum func(scenarios.Lock) env.Quorum
	// external: the lock has a client of its own, so it needs neither a store that the world
	// carries out requests at, nor another backend than the one it is given.
	external bool
	callers  int // of an external lock, if several clients share it
	capacity int // of an external lock, permits; 0: holds are exclusive
	// connected: the lock belongs to a connection of its holder. The TTL is how long the server
	// keeps the connection of a client that does not answer; a heartbeat is not needed.
	connected bool
	// products are the real stores that can keep the lock; the first is the default.
	products []string
	// unwatched: no watch of these stores reports the changes of its entries.
	unwatched bool
	// fields are the YAML fields that this lock reads besides [sharedFields]. A test
	// compares them with what config reads.
	fields string
	// config returns the configuration of a lock with a scenario's parameters, the same
	// for every client. build creates one client's lock.
	config func(scenarios.Lock) config
	build  func(config, ports) (Lock, error)
}

// config is the configuration of a lock, as the lock's package defines it.
type config interface {
	// Validate refuses parameters that cannot be.
	Validate() error
}

// withBuilder sets the kind's config and build functions.
func withBuilder[C config](k lockKind, made func(scenarios.Lock) C, build func(C, ports) (Lock, error)) lockKind {
	k.config = func(l scenarios.Lock) config { return made(l) }
	k.build = func(c config, p ports) (Lock, error) { return build(c.(C), p) }
	return k
}

// sharedFields are the YAML fields that every lock reads.
const sharedFields = "kind ttl drift_factor clock node_timeout margin retry tries"

// lockKinds lists the locks that a scenario can name.
var lockKinds = []lockKind{
	redlockKind("redlock", "keys on a majority of independent nodes", "", nil),
	oneKey("check-then-set", "GET, then SET, on one node; released by DEL", rivals.NewCheckThenSet),
	oneKey("setnx-then-expire", "SETNX, then EXPIRE, on one node; released by DEL", rivals.NewSetNXThenExpire),
	oneKey("setnx-del", "SET NX PX on one node, released by DEL", rivals.NewSetNXDel),
	oneKey("get-then-del", "SET NX PX on one node, released by GET, then DEL", rivals.NewGetThenDel),
	oneKey("single-node", "SET NX PX on one node, released by compare-and-delete", rivals.NewSingleNode),
	storeKind("database-row", "a row with a time to live, which others sweep", []string{"postgresql"}, "", rivalConfig, mutexBuilder(rivals.NewRow)),
	expiringKind("expiring-key", "a key that expires by itself, extended and released by its revision", mutexBuilder(rivals.NewExpiringKey)),
	storeKind("object-store", "a record that is created if absent, and replaced at its revision once its time is over by the client's wall clock", nil, "", rivalConfig, mutexBuilder(rivals.NewObjectStore)),
	storeKind("dynamodb-lock", "a record that is replaced at its version if that has not changed for a TTL", nil, "", rivalConfig, mutexBuilder(rivals.NewVersionedRecord)),
	storeKind("lock-file", "a file that is created if absent, without a time to live", nil, "", rivalConfig, mutexBuilder(rivals.NewLockFile)),
	storeKind("kubernetes-lease", "a record that its holder renews by compare-and-swap, as client-go's leader election does", []string{"etcd", "zookeeper", "postgresql", "redis-sentinel", "redis-cluster"}, "heartbeat", leaseConfig, mutexBuilder(rivals.NewKubernetesLease)),
	connectionKind("advisory", "an advisory lock of the holder's connection, without a deadline", advisoryConfig(false)),
	connectionKind("advisory-transaction", "an advisory lock of the holder's transaction, which ends if it is idle for a TTL", advisoryConfig(true)),
	storeKind("zookeeper", "an ephemeral sequential node, and a watch on the one before it", []string{"zookeeper"}, "heartbeat", sessionConfig, mutexBuilder(rivals.NewZooKeeper)),
	storeKind("etcd", "a key of the session's lease, the lowest revision, and a watch on the key before it", []string{"etcd"}, "heartbeat", sessionConfig, mutexBuilder(rivals.NewEtcd)),
	storeKind("etcd-unchecked", "the same without a look at the session after the wait", []string{"etcd"}, "heartbeat", sessionConfig, mutexBuilder(rivals.NewEtcdUnchecked)),
	storeKind("chubby", "a node of the session, with a sequencer, a grace period and a lock-delay", nil, "heartbeat grace lock_delay", chubbyConfig, mutexBuilder(rivals.NewChubby)),
	storeKind("fenced", "a fenced lock on consensus, which its owner may enter again", []string{"etcd"}, "heartbeat entries", fencedConfig, newFenced),
}

// Locks returns the names of the locks with a line on each.
func Locks() (list []string, what map[string]string) {
	what = make(map[string]string, len(lockKinds))
	for _, k := range lockKinds {
		what[k.name] = k.what
	}
	return names(lockKinds, func(k lockKind) string { return k.name }), what
}

func findLock(name string) (lockKind, error) {
	for _, k := range lockKinds {
		if k.name == name {
			return k, nil
		}
	}
	list, _ := Locks()
	return lockKind{}, fmt.Errorf("unknown lock %q: there is %v", name, list)
}

// on returns the backend that runs a scenario with the lock: for a lock in a store, the one
// with servers of the store's product.
func (k lockKind) on(b Backend, s scenarios.Scenario) (Backend, error) {
	unfit := func(path, format string, args ...any) (Backend, error) {
		return Backend{}, &UnfitError{path, fmt.Errorf(format, args...)}
	}
	switch {
	case !k.inStore() || k.external:
		return b, nil
	case b.InStore == nil:
		return unfit("lock.kind", "%s needs a store, which the %s backend has not", k.name, b.Name)
	case s.Store.Product != "" && !slices.Contains(k.products, s.Store.Product):
		return Backend{}, &nemesis.FieldError{Path: "store.product", Err: fmt.Errorf("%q cannot keep the lock %s: want one of %q", s.Store.Product, k.name, k.products)}
	}
	product := cmp.Or(s.Store.Product, k.defaultProduct())
	in, ok := b.InStore(product)
	switch {
	case !ok && product == "":
		return unfit("lock.kind", "%s is only simulated: no store of the %s backend can keep it", k.name, b.Name)
	case !ok:
		return unfit("store.product", "the %s backend of this lockstorm has no %s: that of the module stores has", b.Name, product)
	case !in.Exact && product != "postgresql" && !onRedis(product) && s.Store.Asynchronous:
		return unfit("store.asynchronous", "%s has no asynchronous replicas", product)
	case !in.Exact && !onRedis(product) && s.Store.Acknowledged != "":
		return unfit("store.acknowledged", "clients of %s do not choose how many replicas they wait for", product)
	case !in.Exact && onRedis(product) && s.Store.Durability != "":
		return unfit("store.durability", "%s has no such modes: the field persistence says what a member keeps", product)
	case !in.Exact && product != "postgresql" && s.Store.Durability != "" && s.Store.Durability != nemesis.Flushed:
		return unfit("store.durability", "%s answers what a majority has on disk, not %s", product, s.Store.Durability)
	}
	in.InStore, in.ClientProcesses = b.InStore, b.ClientProcesses
	if in.Watched && k.unwatched {
		in.Keys, in.Watched = false, false
	}
	return in, nil
}

// onRedis reports whether a product is a deployment of Redis.
func onRedis(product string) bool { return strings.HasPrefix(product, "redis-") }

func (k lockKind) defaultProduct() string {
	if len(k.products) == 0 {
		return ""
	}
	return k.products[0]
}

// configured returns the configuration of a scenario's locks. It is an error if the setting
// lacks something that the lock needs, or if the scenario sets a field that the lock does not
// read.
func (k lockKind) configured(s scenarios.Scenario) (config, error) {
	wrong := func(path string, format string, args ...any) (config, error) {
		return nil, &nemesis.FieldError{Path: path, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case k.inStore() && !k.external && s.Lock.Retry.Max == 0:
		return wrong("lock.retry", "0s: %s needs more than 0: a store that has no leader is asked again after it", k.name)
	case k.inStore() && s.Store == nil:
		return wrong("lock.kind", "%s needs a store, which the setting has not: see the field store", k.name)
	}
	if field := k.unusedField(s.Lock); field != "" {
		return wrong("lock."+field, "%s has no use for it", k.name)
	}
	if s.Lock.Heartbeat <= 0 && !k.connected && slices.Contains(strings.Fields(k.fields), "heartbeat") {
		return wrong("lock.heartbeat", "%v: %s needs more than 0, and less than the TTL", s.Lock.Heartbeat, k.name)
	}
	c := k.config(s.Lock)
	if err := c.Validate(); err != nil || k.inStore() {
		return c, form.In("lock", err)
	}
	return c, form.In("lock", k.quorum(s.Lock).Validate(s.Nodes))
}

// inStore reports whether the lock is kept in a store, not on the nodes.
func (k lockKind) inStore() bool { return k.quorum == nil }

// describe writes into the header of a history what the checker has to know about the
// lock.
func (k lockKind) describe(h *history.Header, l scenarios.Lock) {
	h.Allowance, h.Quarantine, h.Capacity = allowance(h.LongestTTL, l), l.Quarantine, k.capacity
	if k.inStore() {
		h.Keepers, h.Entries = -1, h.Keys && !k.connected // the locks of connections are no entries
		return
	}
	if h.Capacity > 1 && (h.Watched || k.callers > 1) {
		h.Keys, h.Watched = false, false // nobody can tell whose a key is: see [External.Capacity]
	}
	q := k.quorum(l).Among(h.Nodes)
	first := q.Voters.Len()
	switch {
	case q.Weights != nil || q.Voters != env.AllNodes(first):
		h.Votes = make([]int, h.Nodes)
		for _, node := range q.Voters.List() {
			h.Votes[node-1] = q.Weight(node)
		}
	case first < h.Nodes:
		h.Keepers = first
	}
}

// unusedField returns the name of a field that is set and that the lock does not read, or
// "".
func (k lockKind) unusedField(l scenarios.Lock) string {
	known := strings.Fields(sharedFields + " " + k.fields)
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if !slices.Contains(known, name) && !v.Field(i).IsZero() {
			return name
		}
	}
	return ""
}

func names[T any](table []T, name func(T) string) []string {
	list := make([]string, len(table))
	for i, entry := range table {
		list[i] = name(entry)
	}
	return list
}

// rivalConfig returns the common configuration of the locks of package rivals.
func rivalConfig(l scenarios.Lock) rivals.Config {
	return rivals.Config{
		TTL:         l.TTL,
		Allowance:   allowance(l.TTL, l),
		Clock:       l.ReadsClock(),
		NodeTimeout: l.NodeTimeout,
		Margin:      l.Margin,
		RetryMin:    l.Retry.Min,
		RetryMax:    l.Retry.Max,
		Tries:       l.Tries,
	}
}

// rivalPorts returns the ports as package rivals defines them.
func (p ports) rivalPorts() rivals.Ports {
	return rivals.Ports{Runtime: p.runtime, Nodes: p.nodes, Store: p.store, Observer: p.observer}
}

// mutexBuilder adapts a constructor of a mutex to one of a [Lock].
func mutexBuilder[C any](newMutex func(C, rivals.Ports) (*rivals.Mutex, error)) func(C, ports) (Lock, error) {
	return func(c C, p ports) (Lock, error) {
		m, err := newMutex(c, p.rivalPorts())
		return adapter[*rivals.Hold]{m}, err
	}
}

// oneKey is a lock with a single key, on node 1.
func oneKey(name, what string, newMutex func(rivals.Config, rivals.Ports) (*rivals.Mutex, error)) lockKind {
	return withBuilder(lockKind{
		name: name, what: what,
		quorum: func(scenarios.Lock) env.Quorum { return env.Quorum{Voters: env.SetOf(1)} },
	}, rivalConfig, mutexBuilder(newMutex))
}

// storeKind is a lock of package rivals in a store, which real products can be.
func storeKind[C config](name, what string, products []string, fields string, made func(scenarios.Lock) C, build func(C, ports) (Lock, error)) lockKind {
	return withBuilder(lockKind{name: name, what: what, products: products, fields: fields}, made, build)
}

// expiringKind is a lock of package rivals whose entry expires by itself.
func expiringKind(name, what string, build func(rivals.Config, ports) (Lock, error)) lockKind {
	k := storeKind(name, what, []string{"redis-sentinel", "redis-cluster", "postgresql"}, "", rivalConfig, build)
	k.unwatched = true
	return k
}

// connectionKind is a lock of package rivals that belongs to a connection of PostgreSQL.
func connectionKind(name, what string, made func(scenarios.Lock) rivals.AdvisoryConfig) lockKind {
	k := storeKind(name, what, []string{"postgresql"}, "heartbeat", made, mutexBuilder(rivals.NewAdvisory))
	k.connected = true
	return k
}

func advisoryConfig(transaction bool) func(scenarios.Lock) rivals.AdvisoryConfig {
	return func(l scenarios.Lock) rivals.AdvisoryConfig {
		return rivals.AdvisoryConfig{Config: rivalConfig(l), Heartbeat: l.Heartbeat, Transaction: transaction}
	}
}

func leaseConfig(l scenarios.Lock) rivals.LeaseConfig {
	return rivals.LeaseConfig{Config: rivalConfig(l), RetryPeriod: l.Heartbeat}
}

func sessionConfig(l scenarios.Lock) rivals.SessionConfig {
	return rivals.SessionConfig{Config: rivalConfig(l), Heartbeat: l.Heartbeat}
}

func chubbyConfig(l scenarios.Lock) rivals.ChubbyConfig {
	return rivals.ChubbyConfig{SessionConfig: sessionConfig(l), Grace: l.Grace, LockDelay: l.LockDelay}
}

func fencedConfig(l scenarios.Lock) rivals.FencedConfig {
	return rivals.FencedConfig{SessionConfig: sessionConfig(l), Entries: cmp.Or(l.Entries, 1)}
}

func newFenced(c rivals.FencedConfig, p ports) (Lock, error) {
	lock, err := rivals.NewFenced(c, p.rivalPorts())
	return adapter[*rivals.Entrance]{lock}, err
}
