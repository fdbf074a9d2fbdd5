package runner

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// workload is what a client does while it holds the lock.
type workload struct {
	name string
	what string
	work func(u *user, h Hold)

	store bool // it asks the store of the lock
}

// workloads lists the workloads that a scenario's clients can have.
var workloads = []workload{
	{"hold", "holds the lock for a while and touches nothing", (*user).holdOnly, false},
	{"section", "reads the guarded resource, works, and writes the value plus one; looks at no clock", (*user).section, false},
	{"checked", "as section, but asks the lock just before the write whether it is still held, and gives up if not", (*user).checked, false},
	{"verified", "as section, but asks the store just before the write whether the lock's entry is still there, and gives up if not; for locks in a store", (*user).verified, true},
	{"verified-serializable", "as verified, but the node that the client is connected to replies from the state that it has, as etcd's serializable reads do", (*user).verifiedSerializable, true},
	{"posted", "as section, but the release does not wait for the answer to the write", (*user).writeAsync, false},
	{"misuse", "holds the lock for a while and uses it as nobody should: asks for extensions that cannot be, extends what it has released, and releases it twice", (*user).misuse, false},
}

// Workloads returns the names of the workloads with a line on each.
func Workloads() (list []string, what map[string]string) {
	what = make(map[string]string, len(workloads))
	for _, w := range workloads {
		what[w.name] = w.what
	}
	return names(workloads, func(w workload) string { return w.name }), what
}

func findWorkload(name string) (workload, error) {
	for _, w := range workloads {
		if w.name == name {
			return w, nil
		}
	}
	list, _ := Workloads()
	return workload{}, fmt.Errorf("unknown workload %q: there is %v", name, list)
}

// role is the behaviour of a client, which is the same in every run.
type role struct {
	client   scenarios.Client
	names    []string // of the resources
	ttl      time.Duration
	workload workload
}

func rolesOf(s scenarios.Scenario, lock lockKind) ([]role, error) {
	roles := make([]role, len(s.Clients))
	names := map[string][]string{} // of resources: those of one name are the same for all
	for i, c := range s.Clients {
		work, err := findWorkload(c.Workload)
		if err != nil {
			return nil, &nemesis.FieldError{Path: fmt.Sprintf("clients[%d].workload", i), Err: err}
		}
		if work.store && !lock.inStore() {
			return nil, &nemesis.FieldError{Path: fmt.Sprintf("clients[%d].workload", i), Err: fmt.Errorf("%s needs a lock in a store, which %s is not", work.name, lock.name)}
		}
		roles[i] = role{c, resources(c, names), s.Lock.TTL, work}
	}
	return roles, nil
}

// user is the program of one client: in each round it locks, works, releases and waits.
type user struct {
	role
	runtime  env.Runtime
	register env.Register
	recorder *recorder
	lock     Lock
	posting  env.Task // the write of this round that nobody has waited for; nil: none

	external bool            // the lock is not one of this program
	deck     []string        // of an external lock: the resources that it has not locked in this turn
	caller   context.Context // of an external lock, in a round: ends with it, or when the world cancels it
}

// run runs the client's rounds. An error of the lock is recorded, and the client goes on
// with the next round.
func (u *user) run() {
	ctx := context.Background()
	u.wait(ctx, u.client.Start)
	for range u.client.Rounds {
		if u.external {
			u.call(ctx, func(caller context.Context) { u.caller = caller; u.round(caller) })
		} else {
			u.round(ctx)
		}
		u.wait(ctx, u.client.Think)
		u.finish(ctx)
	}
}

// round locks, works and releases. A release has a context of its own.
func (u *user) round(ctx context.Context) {
	if hold, err := u.acquire(ctx); err == nil {
		u.workload.work(u, hold)
		u.release(context.Background(), hold)
	}
}

// gaveUp reports whether the caller's context has ended, so that nobody waits for the work any more.
func (u *user) gaveUp() bool { return u.external && u.caller.Err() != nil }

// resource draws the resource of the next round. A client of an external lock locks each of them before it locks one
// again, because what a lock makes of a name does not depend on chance.
func (u *user) resource() string {
	if !u.external {
		return u.names[u.drawIndex(len(u.names))]
	}
	if len(u.deck) == 0 {
		u.deck = slices.Clone(u.names)
	}
	i := u.drawIndex(len(u.deck))
	name := u.deck[i]
	u.deck = slices.Delete(u.deck, i, i+1)
	return name
}

func (u *user) drawIndex(of int) int { return int(u.draw(nemesis.Range{Max: time.Duration(of - 1)})) }

// resources lists the resources of a client. known has those of earlier clients.
func resources(c scenarios.Client, known map[string][]string) []string {
	if c.Resources <= 1 {
		return []string{c.Resource}
	}
	names := known[c.Resource]
	for i := len(names); i < c.Resources; i++ {
		names = append(names, fmt.Sprintf("%s/%d", c.Resource, i+1))
	}
	known[c.Resource] = names
	return names[:c.Resources]
}

func (u *user) acquire(ctx context.Context) (hold Hold, err error) {
	u.callInRound(ctx, func(ctx context.Context) { hold, err = u.lock.Lock(ctx, u.resource()) })
	return hold, err
}

// callInRound makes a call of the lock. An external lock is called with the context of the round.
func (u *user) callInRound(ctx context.Context, do func(ctx context.Context)) {
	if u.external {
		do(ctx)
		return
	}
	u.call(ctx, do)
}

// call makes one call of the lock. The world may cancel its context, and it is cancelled
// after the call.
func (u *user) call(ctx context.Context, do func(ctx context.Context)) {
	ctx, returned := u.recorder.world.Call(ctx, u.recorder.client)
	defer returned()
	do(ctx)
}

// holdOnly keeps the lock for a time, or until the lock reports that it is lost.
func (u *user) holdOnly(h Hold) {
	u.work(h.Context(), h)
}

// work passes the time of the work, and extends the lock meanwhile if the
// client does so. It returns false if the work was cut short: of a client that works no longer than the
// lock claims, or whose caller gave up.
func (u *user) work(ctx context.Context, h Hold) (whole bool) {
	if u.client.Claimed {
		ctx = h.Context()
	}
	if u.external {
		working, stop := u.whileCalled(ctx)
		defer stop()
		ctx = working
	}
	end := u.runtime.Now(env.Monotonic).Add(u.draw(u.client.Work))
	for every := u.client.ExtendEvery; every > 0; {
		next := u.runtime.Now(env.Monotonic).Add(every)
		if next >= u.claimed(h, end) {
			break
		}
		if u.runtime.Sleep(ctx, next) != nil {
			return !u.client.Claimed && !u.gaveUp()
		}
		ttl := u.extension()
		u.extend(ctx, h, ttl)
		every = u.nextExtension(ttl)
	}
	last := u.claimed(h, end)
	cut := u.runtime.Sleep(ctx, last) != nil || last < end
	return !cut || !u.client.Claimed && !u.gaveUp()
}

// claimEnder is a hold that may end without a notice.
type claimEnder interface {
	// ClaimEnd returns the end of validity, or [env.Never] if the lock reports the end of the hold.
	ClaimEnd() env.Instant

	// ExtendWithin is Extend, whose context ends after a time that does not count a pause before it.
	ExtendWithin(ctx context.Context, ttl, limit time.Duration) error
}

// claimed returns when work ends that would last until end.
func (u *user) claimed(h Hold, end env.Instant) env.Instant {
	if c, ends := h.(claimEnder); ends && u.client.Claimed {
		return min(end, c.ClaimEnd())
	}
	return end
}

// nextExtension returns how long the client waits after an extension before it requests
// the next. The wait grows with the requested TTL.
func (u *user) nextExtension(ttl time.Duration) time.Duration {
	if ttl <= u.ttl {
		return u.client.ExtendEvery
	}
	return time.Duration(float64(u.client.ExtendEvery) * float64(ttl) / float64(u.ttl))
}

// extension draws the TTL of an extension.
func (u *user) extension() time.Duration {
	if u.client.ExtendTTL == (nemesis.Range{}) {
		return u.ttl
	}
	ttl := u.draw(u.client.ExtendTTL)
	if ttl > time.Millisecond {
		ttl = ttl.Truncate(time.Millisecond)
	}
	return ttl
}

// extend extends the hold. A client that works no longer than the lock claims waits for the extension no
// longer than that, either.
func (u *user) extend(ctx context.Context, h Hold, ttl time.Duration) {
	if last := u.claimed(h, env.Never); last != env.Never {
		limit := time.Duration(last - u.runtime.Now(env.Monotonic))
		u.callInRound(ctx, func(ctx context.Context) { _ = h.(claimEnder).ExtendWithin(ctx, ttl, limit) })
		return
	}
	u.callInRound(ctx, func(ctx context.Context) { _ = h.Extend(ctx, ttl) })
}

func (u *user) release(ctx context.Context, h Hold) {
	u.call(ctx, func(ctx context.Context) { _ = h.Release(ctx) })
}

func (u *user) wait(ctx context.Context, r nemesis.Range) {
	if d := u.draw(r); d > 0 {
		_ = u.runtime.Sleep(ctx, u.runtime.Now(env.Monotonic).Add(d))
	}
}

func (u *user) draw(r nemesis.Range) time.Duration {
	if r.Min == r.Max {
		return r.Min
	}
	var bits [8]byte
	u.runtime.Random(bits[:])
	return r.Draw(binary.LittleEndian.Uint64(bits[:]))
}

// section is a read-modify-write by a user who trusts the lock. It stops only if the
// resource rejects it.
func (u *user) section(h Hold) {
	if a, value, ok := u.prepare(h); ok {
		u.recorder.writeCalled(a, value)
		u.write(a, value)
	}
}

// checked is a section that checks the hold once more before the write. The hold may still
// end between that check and the arrival of the write.
func (u *user) checked(h Hold) {
	if a, value, ok := u.prepare(h); ok && u.check(h) == nil {
		u.recorder.writeCalled(a, value)
		u.write(a, value)
	}
}

// verifier is the hold of a lock in a store.
type verifier interface {
	// Verify asks the store whether the entry of the hold is still there.
	Verify(ctx context.Context, serializable bool) error
}

// verified is a section that asks the store once more before the write. The entry may go
// between its reply and the arrival of the write.
func (u *user) verified(h Hold) { u.verify(h, false) }

func (u *user) verifiedSerializable(h Hold) { u.verify(h, true) }

func (u *user) verify(h Hold, serializable bool) {
	a, value, ok := u.prepare(h)
	if !ok || h.(verifier).Verify(context.Background(), serializable) != nil {
		return
	}
	u.recorder.writeCalled(a, value)
	u.write(a, value)
}

// check asks the lock whether it is still held.
func (u *user) check(h Hold) error {
	u.recorder.checkCalled(h)
	err := h.Check()
	u.recorder.checkReturned(h, err)
	return err
}

// writeAsync is a section that releases the lock without waiting for the answer to its
// write.
func (u *user) writeAsync(h Hold) {
	a, value, ok := u.prepare(h)
	if !ok {
		return
	}
	u.recorder.writeCalled(a, value)
	u.posting = u.runtime.Go("write", func() { u.write(a, value) })
}

// finish waits for an asynchronous write, so that each client has at most one, and gets
// the answer before it ends.
func (u *user) finish(ctx context.Context) {
	if u.posting != nil {
		_ = u.posting.Wait(ctx)
		u.posting = nil
	}
}

// prepare reads the resource and works. It returns the access and the value to be written;
// ok is false if the resource rejected the read, or if the work was cut short.
func (u *user) prepare(h Hold) (a env.Access, value int64, ok bool) {
	ctx := context.Background()
	a = env.Access{Resource: h.Resource(), Token: h.Token()}
	fence, err := u.fence(ctx, h)
	if err != nil {
		return a, 0, false
	}
	a.Fence = fence
	u.recorder.readCalled(a)
	value, err = u.register.Read(ctx, a)
	u.recorder.readReturned(a, value, err)
	if err != nil {
		return a, 0, false
	}
	return a, value + 1, u.work(ctx, h) && !shared(h)
}

// write writes and waits for the answer. The call was recorded before.
func (u *user) write(a env.Access, value int64) {
	err := u.register.Write(context.Background(), a, value)
	u.recorder.writeReturned(a, value, err)
}

// fence returns the fence that the client sends to the guarded resource: that of the
// grant, or one that the client draws itself.
func (u *user) fence(ctx context.Context, h Hold) (uint64, error) {
	if fence := h.Fence(); fence != 0 || !u.client.Fence {
		return fence, nil
	}
	return u.register.Fence(ctx, h.Resource())
}

// invalidTTLs are TTLs that a lock has to reject.
var invalidTTLs = []time.Duration{-time.Second, -1, 0, 1, 500 * time.Microsecond, time.Millisecond - 1}

// misuse holds the lock and makes calls that the lock has to reject with an error. The run
// loop's release is the second one.
func (u *user) misuse(h Hold) {
	ctx := context.Background()
	for _, ttl := range invalidTTLs {
		u.extend(ctx, h, ttl)
	}
	u.work(h.Context(), h)
	u.release(ctx, h)
	// In the instant of the release nobody could tell which came first.
	u.wait(ctx, nemesis.Range{Min: time.Microsecond, Max: time.Millisecond})
	u.extend(ctx, h, u.ttl)
}
