//go:build linux

package etcdtest_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/etcdtest"
)

func TestRealStoreKeepsACorrectLock(t *testing.T) { externaltest.Correct(t, etcdtest.Store, open) }

// openCareless makes a lock that does not look at its session any more once it is granted.
func openCareless(env locktest.Env) locktest.Locker {
	client := etcdtest.Client(env, clientv3.Config{})
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		session, err := concurrency.NewSession(client, concurrency.WithTTL(int(env.TTL/time.Second)), concurrency.WithContext(ctx))
		if err != nil {
			return locktest.Hold{}, err
		}
		mutex := concurrency.NewMutex(session, name)
		return locktest.Hold{Release: mutex.Unlock}, mutex.Lock(ctx)
	})
}

func TestRealStoreShowsALockThatIgnoresItsSession(t *testing.T) {
	externaltest.Wrong(t, etcdtest.Store, openCareless)
}

func TestModules(t *testing.T) {
	externaltest.Modules(t, map[string]string{
		"go.etcd.io/etcd/client/v3":                 "",
		"go.etcd.io/etcd/client/pkg/v3":             "etcd's client",
		"go.etcd.io/etcd/api/v3":                    "etcd's client",
		"github.com/coreos/go-semver":               "etcd's client",
		"github.com/coreos/go-systemd/v22":          "etcd's client",
		"github.com/hanwen/go-fuse/v2":              "members on disks that lose power",
		"github.com/golang/protobuf":                "etcd's client",
		"github.com/grpc-ecosystem/grpc-gateway/v2": "etcd's client",
		"go.uber.org/multierr":                      "zap",
		"go.uber.org/zap":                           "etcd's client logs by it",
		"golang.org/x/net":                          "gRPC",
		"golang.org/x/text":                         "golang.org/x/net",
		"google.golang.org/genproto/googleapis/api": "etcd's client",
		"google.golang.org/genproto/googleapis/rpc": "gRPC",
		"google.golang.org/grpc":                    "etcd's client",
		"google.golang.org/protobuf":                "gRPC",
	})
}
