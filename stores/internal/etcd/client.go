package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// Store is etcd as its clients see it.
type Store struct{}

// Name returns the product's name.
func (Store) Name() string { return "etcd" }

// Servers says how the product's servers are run.
func (k Store) Servers() *live.StoreServers {
	return &live.StoreServers{
		Product: k.Name(), Port: 2379, Oldest: "3.4", Version: version, Clients: []live.Store{k}, Watched: true,
		Handlers: Handlers, Start: Open, Installed: installed, CheckTTL: checkTTL,
	}
}

// Connect implements [live.Store].
func (Store) Connect(addrs []string, dial dialer) (live.StoreClient, error) {
	return client{live.NewMember(addrs, func(addr string) (*clientv3.Client, error) { return connectTo(addr, dial) }, hangUp)}, nil
}

type dialer = func(ctx context.Context, addr string) (net.Conn, error)

// connectTo returns a client of one member, which connects in the background.
func connectTo(addr string, dial dialer) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: []string{addr}, Logger: zap.NewNop(), MaxUnaryRetries: 1,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(dial), grpc.WithNoProxy()},
	})
}

func hangUp(c *clientv3.Client) { _ = c.Close() } // reports that its context has ended

type client struct{ *live.Member[*clientv3.Client] }

// Do implements [live.StoreClient].
func (c client) Do(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	member, err := c.Conn()
	if err != nil {
		return env.StoreReply{}, err
	}
	with := ctx
	if !r.Serializable {
		with = clientv3.WithRequireLeader(ctx)
	}
	reply, err := do(with, member, r)
	if err == nil || errors.Is(err, live.ErrStoreOp) || r.Op == env.StoreAwait && ctx.Err() != nil {
		return reply, err
	}
	if !live.Canceled(ctx) {
		c.Leave(member)
	}
	if noEffect(err) {
		err = fmt.Errorf("%w: %w", env.ErrNoLeader, err)
	}
	return env.StoreReply{}, err
}

// noEffect reports whether a request that failed has not been carried out, and will not be:
// the member has rejected it because it knows no leader, or could not be reached.
func noEffect(err error) bool {
	if errors.Is(err, rpctypes.ErrNoLeader) {
		return true
	}
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.Unavailable && strings.Contains(s.Message(), "error while dialing")
}

// do carries out a request at a member.
func do(ctx context.Context, m *clientv3.Client, r env.StoreRequest) (env.StoreReply, error) {
	lease := clientv3.LeaseID(r.Session)
	switch {
	case r.Op == env.StoreOpen:
		granted, err := m.Grant(ctx, int64(math.Ceil(r.TTL.Seconds())))
		if err != nil {
			return env.StoreReply{}, err
		}
		return env.StoreReply{Done: true, Session: uint64(granted.ID)}, nil
	case r.Op == env.StoreKeep:
		_, err := m.KeepAliveOnce(ctx, lease)
		return unlessOver(err)
	case r.Op == env.StoreClose:
		_, err := m.Revoke(ctx, lease)
		return unlessOver(err)
	case r.Op == env.StoreCreate && !r.Sequential && r.TTL == 0 && r.Delay == 0:
		return create(ctx, m, r)
	case r.Op == env.StoreDelete:
		there := clientv3.Compare(clientv3.CreateRevision(r.Key), ">", 0)
		if r.Revision != 0 {
			there = clientv3.Compare(clientv3.ModRevision(r.Key), "=", int64(r.Revision))
		}
		note := clientv3.OpPut(deletedKey, r.Key)
		done, err := m.Txn(ctx).If(there).Then(clientv3.OpDelete(r.Key), note).Commit()
		if err != nil {
			return env.StoreReply{}, err
		}
		return env.StoreReply{Done: done.Succeeded}, nil
	case r.Op == env.StoreList:
		how := []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortAscend)}
		if r.Serializable {
			how = append(how, clientv3.WithSerializable())
		}
		list, err := m.Get(ctx, r.Key, how...)
		if err != nil {
			return env.StoreReply{}, err
		}
		reply := env.StoreReply{Done: true}
		for _, kv := range list.Kvs {
			reply.Entries = append(reply.Entries, entryOf(kv))
		}
		return reply, nil
	case r.Op == env.StoreAwait:
		return await(ctx, m, r)
	case r.Op == env.StoreUpdate:
		return update(ctx, m, r)
	}
	return env.StoreReply{}, fmt.Errorf("etcd: %v of %+v: %w", r.Op, r, live.ErrStoreOp)
}

// unlessOver is the reply to a request for a lease: declined if the lease is over.
func unlessOver(err error) (env.StoreReply, error) {
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return env.StoreReply{}, nil
	}
	return env.StoreReply{Done: err == nil}, err
}

func create(ctx context.Context, m *clientv3.Client, r env.StoreRequest) (env.StoreReply, error) {
	done, err := m.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(r.Key), "=", 0)).
		Then(clientv3.OpPut(r.Key, r.Value, clientv3.WithLease(clientv3.LeaseID(r.Session)))).
		Else(clientv3.OpGet(r.Key)).Commit()
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return env.StoreReply{}, nil
	case err != nil:
		return env.StoreReply{}, err
	case done.Succeeded:
		e := env.Entry{Key: r.Key, Value: r.Value, Session: r.Session, Revision: uint64(done.Header.Revision)}
		return env.StoreReply{Done: true, Entries: []env.Entry{e}}, nil
	}
	there := done.Responses[0].GetResponseRange().Kvs[0]
	return env.StoreReply{Entries: []env.Entry{entryOf(there)}}, nil
}

// update replaces a value, and leaves the entry its lease.
func update(ctx context.Context, m *clientv3.Client, r env.StoreRequest) (env.StoreReply, error) {
	done, err := m.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(r.Key), "=", int64(r.Revision)), clientv3.Compare(clientv3.CreateRevision(r.Key), ">", 0)).
		Then(clientv3.OpPut(r.Key, r.Value, clientv3.WithIgnoreLease()), clientv3.OpGet(r.Key)).
		Else(clientv3.OpGet(r.Key)).Commit()
	if err != nil {
		return env.StoreReply{}, err
	}
	reply := env.StoreReply{Done: done.Succeeded}
	for _, kv := range done.Responses[len(done.Responses)-1].GetResponseRange().Kvs {
		reply.Entries = append(reply.Entries, entryOf(kv))
	}
	return reply, nil
}

func entryOf(kv *mvccpb.KeyValue) env.Entry {
	return env.Entry{Key: string(kv.Key), Value: string(kv.Value), Session: uint64(kv.Lease), Revision: uint64(kv.ModRevision)}
}

// await waits until an entry is gone or has another revision. It returns an error if the member loses its leader
// meanwhile.
func await(ctx context.Context, m *clientv3.Client, r env.StoreRequest) (env.StoreReply, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the watch
	defer cancel()
	there, err := m.Get(ctx, r.Key)
	if err != nil {
		return env.StoreReply{}, err
	}
	if len(there.Kvs) == 0 || uint64(there.Kvs[0].ModRevision) != r.Revision {
		return env.StoreReply{Done: true}, nil
	}
	for change := range m.Watch(ctx, r.Key, clientv3.WithRev(there.Header.Revision+1)) {
		if err := change.Err(); err != nil {
			return env.StoreReply{}, err
		}
		if len(change.Events) > 0 { // of this key, later than the revision
			return env.StoreReply{Done: true}, nil
		}
	}
	return env.StoreReply{}, cmp.Or(context.Cause(ctx), fmt.Errorf("the watch of %s has ended", r.Key))
}
