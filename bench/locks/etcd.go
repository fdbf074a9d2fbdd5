package locks

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/lockstorm/lockstorm/locktest"
)

// connectEtcd connects a client to the members.
func connectEtcd(env locktest.Env) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: env.Addrs, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(env.DialAddr), grpc.WithNoProxy()},
	})
	env.Must(err)
	env.Cleanup(client.Close)
	return client
}

// openEtcd is the mutex of etcd's client with a session for each hold, whose end it reports as the
// loss.
func openEtcd(env locktest.Env) locktest.Locker {
	client := connectEtcd(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		session, err := concurrency.NewSession(client, concurrency.WithTTL(int(env.TTL/time.Second)), concurrency.WithContext(ctx))
		if err != nil {
			return locktest.Hold{}, err
		}
		mutex := concurrency.NewMutex(session, "/"+resource)
		if err := mutex.Lock(ctx); err != nil {
			_ = session.Close() // what counts is that Lock has failed
			return locktest.Hold{}, err
		}
		release := func(ctx context.Context) error {
			defer func() { _ = session.Close() }() // the key is deleted by then, or is with the lease
			return mutex.Unlock(ctx)
		}
		return locktest.Hold{Lost: session.Done(), Release: release}, nil
	})
}
