//go:build kubernetes

package locks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/etcdtest"
)

const kubernetes = "k8s.io/client-go"

var kubernetesLocks = []Subject{
	{Name: "client-go", Library: kubernetes, How: "leaderelection with the proportions of its defaults and ReleaseOnCancel, whose context of OnStartedLeading reports the loss, with its record in a key of 3 members of etcd", Store: etcdtest.Store, Open: openClientGo},
	{Name: "client-go-kept", Library: kubernetes, How: "the same without ReleaseOnCancel: the record expires after each hold", Store: etcdtest.Store, Open: openClientGoKept},
}

var kubernetesFindings = []Finding{
	{
		Name: "client-go-releases-first", Kind: Limit,
		Shows: []Shown{
			{Subjects: all("client-go"), Storms: all("holder-cut-off-later"), Properties: all(v1, v2)},
			{Subjects: all("client-go"), Storms: cutOff, Properties: all(v1, v2, v3), Seldom: true},
		},
		What: "A holder is cut off. It gives up when renewals have failed for RenewDeadline, before others take over. With ReleaseOnCancel it then sends a release, and the context of OnStartedLeading ends only when the release has been answered or has timed out. That is RetryPeriod and twice RenewDeadline after the last renewal: 22 s with the defaults, where LeaseDuration is 15 s. A client that has seen that renewal takes over a LeaseDuration later, at its next try. In holder-cut-off the other client sees it too late for that. With requests that time out after half of RenewDeadline, as NewFromKubeconfig sets it, the context ends after 17 s of the defaults, and 2 of 18 such runs showed an overlap. Without ReleaseOnCancel (client-go-kept) it ends after 12 s.",
		Says: "“This implementation does not guarantee that only one client is acting as a leader (a.k.a. fencing)” (documentation of the package); RenewDeadline is “the duration that the acting master will retry refreshing leadership before giving up”.",
		Link: "https://github.com/kubernetes/kubernetes/pull/139991",
	},
}

// openClientGo is the leader election of client-go, which empties its record at the end of a hold.
func openClientGo(env locktest.Env) locktest.Locker { return leaderElection(env, true) }

// openClientGoKept is the same without ReleaseOnCancel: the record stays, and expires.
func openClientGoKept(env locktest.Env) locktest.Locker { return leaderElection(env, false) }

// leaderElection has the defaults of client-go (15, 10 and 2 s) in proportion to the TTL. The TTL
// has to be whole seconds: others wait for the number of whole seconds in the record. As in
// client-go's example, a request has no timeout but those of the elector.
func leaderElection(env locktest.Env, release bool) locktest.Locker {
	client, holds := connectEtcd(env), 0
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		holds++
		leading := make(chan context.Context, 1)
		config := leaderelection.LeaderElectionConfig{
			LeaseDuration: env.TTL, RenewDeadline: env.TTL * 10 / 15, RetryPeriod: env.TTL * 2 / 15, ReleaseOnCancel: release,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(ctx context.Context) { leading <- ctx }, OnStoppedLeading: func() {}},
		}
		config.Lock = &electionRecord{client: client, key: "/leases/" + resource, identity: fmt.Sprintf("%d.%d", env.Client, holds)}
		elector, err := leaderelection.NewLeaderElector(config)
		if err != nil {
			return locktest.Hold{}, err
		}
		return lead(ctx, elector, leading)
	})
}

// lead waits until an elector leads. Its log is discarded.
func lead(ctx context.Context, elector *leaderelection.LeaderElector, leading <-chan context.Context) (locktest.Hold, error) {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.Logger{}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		elector.Run(ctx)
	}()
	select {
	case <-done: // ctx has ended
		cancel()
		return locktest.Hold{}, ctx.Err()
	case held := <-leading:
		release := func(ctx context.Context) error {
			lost := held.Err() != nil
			cancel()
			select {
			case <-done:
				return electorStopped(lost)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return locktest.Hold{Lost: held.Done(), Release: release}, nil
	}
}

// errSilentRun is what is known of a release by Run, which returns nothing.
var errSilentRun = errors.New("client-go does not say whether the lock was held until then")

func electorStopped(lost bool) error {
	if lost {
		return locktest.ErrNotHeld
	}
	return errSilentRun
}

// electionRecord is a record of the leader election in a key of etcd, with the optimistic
// concurrency of an API server: the resource version is the revision of the key's last change. The
// value is the specification of a Lease in JSON, whose times have microseconds. client-go's
// LeaseLock passes whole seconds to the elector, which would take renewals within a second for one,
// and a retry period is shorter than that here. The elector calls it from one goroutine.
type electionRecord struct {
	client        *clientv3.Client
	key, identity string
	revision      int64 // as it was read or written last
}

// leases names the kind of object in errors.
var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// Get implements [resourcelock.Interface].
func (r *electionRecord) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	reply, err := r.client.Get(ctx, r.key)
	switch {
	case err != nil:
		return nil, nil, err
	case len(reply.Kvs) == 0:
		return nil, nil, apierrors.NewNotFound(leases, r.key)
	}
	var spec coordination.LeaseSpec
	if err := json.Unmarshal(reply.Kvs[0].Value, &spec); err != nil {
		return nil, nil, err
	}
	r.revision = reply.Kvs[0].ModRevision
	return resourcelock.LeaseSpecToLeaderElectionRecord(&spec), reply.Kvs[0].Value, nil
}

// Create implements [resourcelock.Interface].
func (r *electionRecord) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.put(ctx, record, 0, apierrors.NewAlreadyExists(leases, r.key))
}

// Update implements [resourcelock.Interface].
func (r *electionRecord) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.put(ctx, record, r.revision, apierrors.NewConflict(leases, r.key, errors.New("the object has been modified")))
}

// put writes the record if the key still has a revision, 0 if there is no key.
func (r *electionRecord) put(ctx context.Context, record resourcelock.LeaderElectionRecord, revision int64, conflict error) error {
	value, err := json.Marshal(resourcelock.LeaderElectionRecordToLeaseSpec(&record))
	if err != nil {
		return err
	}
	reply, err := r.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(r.key), "=", revision)).
		Then(clientv3.OpPut(r.key, string(value))).
		Commit()
	switch {
	case err != nil:
		return err
	case !reply.Succeeded:
		return conflict
	}
	r.revision = reply.Header.Revision
	return nil
}

// Identity and the methods that follow implement [resourcelock.Interface].
func (r *electionRecord) Identity() string { return r.identity }
func (r *electionRecord) Describe() string { return r.key }
func (*electionRecord) RecordEvent(string) {}
