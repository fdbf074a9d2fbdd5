package natstest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/natstest"
)

// connect connects a client to the cluster.
func connect(env locktest.Env) jetstream.JetStream {
	conn, err := nats.Connect(strings.Join(env.Addrs, ","), nats.SetCustomDialer(natstest.Dialer{Env: env}),
		nats.IgnoreDiscoveredServers(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // instead of printing
	env.Must(err)
	env.Cleanup(func() error { conn.Close(); return nil })
	client, err := jetstream.New(conn)
	env.Must(err)
	return client
}

// Mutex is your lock: a message on a subject without messages, which the stream deletes when it
// is older than the TTL. The lock deletes the message itself. A bucket of the key-value API
// would write a marker instead, and with nats-server 2.9 two clients can create a key after a
// marker (nats-server issue 4320).
type Mutex struct {
	Client jetstream.JetStream
	Stream jetstream.Stream
	TTL    time.Duration
}

// newMutex creates the stream, with a replica on each of the members, unless it is there.
func newMutex(ctx context.Context, client jetstream.JetStream, members int, ttl time.Duration) (*Mutex, error) {
	stream, err := client.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "locks", Subjects: []string{"locks.>"}, MaxAge: ttl, Duplicates: ttl, MaxMsgsPerSubject: 1, Replicas: members,
	})
	return &Mutex{client, stream, ttl}, err
}

// askTime bounds one request: a member that has lost its leader does not answer.
const askTime = time.Second

// Lock waits until the lock is held. It returns the number of its message, and when it may be over.
func (m *Mutex) Lock(ctx context.Context, name string) (number uint64, until time.Time, err error) {
	for {
		sent := time.Now()
		asking, cancel := context.WithTimeout(ctx, askTime)
		ack, err := m.Client.Publish(asking, "locks."+name, nil, jetstream.WithExpectLastSequencePerSubject(0))
		cancel()
		if until := sent.Add(m.TTL); err == nil && time.Now().Before(until) {
			return ack.Sequence, until, nil
		}
		select {
		case <-ctx.Done():
			return 0, time.Time{}, ctx.Err()
		case <-time.After(20 * time.Millisecond): // somebody else has it, or there is no leader
		}
	}
}

// Unlock deletes the message.
func (m *Mutex) Unlock(ctx context.Context, number uint64) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return m.Stream.DeleteMsg(ctx, number)
}

// open makes the lock of one client.
func open(env locktest.Env) locktest.Locker {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	mutex, err := newMutex(ctx, connect(env), len(env.Addrs), env.TTL)
	env.Must(err)
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		number, until, err := mutex.Lock(ctx, name)
		release := func(ctx context.Context) error { return mutex.Unlock(ctx, number) }
		return locktest.Hold{Release: release, Until: until}, err
	})
}

// A complete test of a lock on NATS. In a _test.go file it is called TestMutexInStorm, and t is
// its argument.
func Example() {
	TestMutexInStorm := func(t *testing.T) {
		locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: natstest.Store}, open)
	}
	_ = TestMutexInStorm
}
