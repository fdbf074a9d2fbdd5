package leaderelectiontest

import (
	"context"
	"encoding/json"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

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
