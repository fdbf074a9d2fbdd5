package rivals

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// The locks in this file keep a record for each resource in a store that expires nothing: an object store, or a
// table. It is created if absent, and replaced and deleted at its revision (the generation of an object, the
// version of a record), which is the fence. So the clients alone decide when a hold is over. A holder extends its
// hold by an update at the record's revision.

// object is such a lock.
type object struct {
	expiringKey
	records *lease

	// expired reports whether the hold of a record that another client holds is over; nil: never before it is
	// released.
	expired func(m *Mutex, o observation) bool
}

// NewObjectStore returns the lock of articles on conditional writes to S3 and GCS, and of tables that contain
// "locked until": the record contains the time of its last renewal by the holder's wall clock, and its TTL. Others
// compare that with their own wall clocks. So it excludes others only if the clocks of all clients agree up to
// the allowance.
func NewObjectStore(c Config, p Ports) (*Mutex, error) {
	return newObject(c, p, func(m *Mutex, o observation) bool {
		return m.Runtime.Now(env.Wall) >= o.renewed.Add(o.duration)
	})
}

// NewVersionedRecord returns the lock of the DynamoDB lock client: others take a record over when they have
// not seen another version of it for its TTL, by a clock of their own. No clock is compared with another, so only
// their rates matter.
func NewVersionedRecord(c Config, p Ports) (*Mutex, error) {
	return newObject(c, p, func(m *Mutex, o observation) bool { return o.expired(m.now()) })
}

// NewLockFile returns the lock of a file that exists while somebody holds it, as Terraform keeps it in S3. It has
// no time to live, so [Config.TTL] is only validated: if the holder dies, nobody gets the lock until somebody
// deletes the file.
func NewLockFile(c Config, p Ports) (*Mutex, error) { return newObject(c, p, nil) }

func newObject(c Config, p Ports, expired func(*Mutex, observation) bool) (*Mutex, error) {
	records := &lease{LeaseConfig: LeaseConfig{Config: c}, observed: map[string]observation{}, byRevision: true}
	return newStoreMutex(c, p, &object{records: records, expired: expired})
}

func (l *object) acquire(ctx context.Context, a *attempt) error {
	m := a.mutex
	a.renewable = true
	if l.expired == nil {
		a.setUntil(env.Never)
	} else {
		a.setUntil(m.validUntil(m.config.TTL))
	}
	there, err := l.records.read(ctx, a)
	if err != nil {
		return err
	}
	o, err := l.records.observe(a, there)
	switch {
	case err != nil:
		return err
	case o.Revision != 0 && (l.expired == nil || !l.expired(m, o)):
		return ErrTaken
	}
	if err := l.records.write(ctx, a, o); err != nil && !l.written(ctx, a) {
		return err
	}
	a.fence = a.latest().Revision
	if l.expired == nil {
		return nil
	}
	return a.check()
}

// written reports whether a write whose reply was lost has made the try the holder.
func (l *object) written(ctx context.Context, a *attempt) bool {
	key := a.latest().Key
	if key == "" {
		return false // it was declined
	}
	found, err := a.mutex.find(ctx, env.StoreRequest{Key: key}, a.token)
	if err != nil || found.Revision == 0 {
		return false // it may still come, and is deleted then
	}
	a.note(found)
	_, err = l.records.observe(a, found)
	return err == nil
}

// extend renews the record for the lock's own TTL, whatever is requested: a record that says less than an
// earlier one would end a hold that relies on that, if the reply is lost.
func (l *object) extend(ctx context.Context, h *Hold, ttl time.Duration) (env.Instant, error) {
	if l.expired == nil {
		return 0, errNoExtension
	}
	return h.renew(ctx, ttl, func(e env.Entry) env.StoreRequest {
		record, _ := parseLease(e.Value) // its own
		record.holder, record.duration, record.renewed = h.token, h.mutex.config.TTL, h.mutex.Runtime.Now(env.Wall)
		return env.StoreRequest{Op: env.StoreUpdate, Key: e.Key, Revision: e.Revision, Value: record.String()}
	})
}
