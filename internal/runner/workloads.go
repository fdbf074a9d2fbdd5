package runner

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// workload is what a client does under the lock.
type workload struct {
	name string
	what string
	work func(u *user, h Hold)
}

// workloads lists what a scenario's clients can do.
var workloads = []workload{
	{"hold", "holds the lock for a while and touches nothing", (*user).holdOnly},
	{"section", "reads the guarded resource, works, and writes the value plus one; looks at no clock", (*user).section},
	{"checked", "as section, but asks the lock just before the write whether it is still held, and gives up if not", (*user).checked},
	{"posted", "as section, but the release does not wait for the answer to the write", (*user).writeAsync},
	{"misuse", "holds the lock for a while and uses it as nobody should: asks for extensions that cannot be, extends what it has released, and releases it twice", (*user).misuse},
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

// role is what a client does, the same in every run.
type role struct {
	client   scenarios.Client
	names    []string // of the resources
	ttl      time.Duration
	workload workload
}

func rolesOf(s scenarios.Scenario) ([]role, error) {
	roles := make([]role, len(s.Clients))
	names := map[string][]string{} // of resources: those of one name are the same for all
	for i, c := range s.Clients {
		work, err := findWorkload(c.Workload)
		if err != nil {
			return nil, &nemesis.FieldError{Path: fmt.Sprintf("clients[%d].workload", i), Err: err}
		}
		roles[i] = role{c, resources(c, names), s.Lock.TTL, work}
	}
	return roles, nil
}

// user is one client at work: it locks, works, releases, thinks.
type user struct {
	role
	runtime  env.Runtime
	register env.Register
	recorder *recorder
	lock     Lock
	posting  env.Task // the write of this round that nobody has waited for; nil: none
}

// run is the life of a client. Its errors are outcomes, which the recorder has
// heard of; the client goes on with its next round.
func (u *user) run() {
	ctx := context.Background()
	u.wait(ctx, u.client.Start)
	for range u.client.Rounds {
		if hold, err := u.acquire(ctx); err == nil {
			u.workload.work(u, hold)
			u.release(ctx, hold)
		}
		u.wait(ctx, u.client.Think)
		u.finish(ctx)
	}
}

// resource picks what the next round locks.
func (u *user) resource() string {
	last := time.Duration(len(u.names) - 1)
	return u.names[u.draw(nemesis.Range{Max: last})]
}

// resources lists the names of what a client locks. known are those of clients before.
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
	u.call(ctx, func(ctx context.Context) { hold, err = u.lock.Lock(ctx, u.resource()) })
	return hold, err
}

// call makes one call of the lock. The world may cancel its context; after the
// call that is over, as with a caller who cancels it when it has returned.
func (u *user) call(ctx context.Context, do func(ctx context.Context)) {
	ctx, returned := u.recorder.world.Call(ctx, u.recorder.client)
	defer returned()
	do(ctx)
}

// holdOnly keeps the lock for a time, or until it is told that it is lost.
func (u *user) holdOnly(h Hold) {
	u.work(h.Context(), h)
}

// work passes the time of the work, and extends the lock meanwhile if the
// client does so.
func (u *user) work(ctx context.Context, h Hold) {
	end := u.runtime.Now(env.Monotonic).Add(u.draw(u.client.Work))
	for every := u.client.ExtendEvery; every > 0; {
		next := u.runtime.Now(env.Monotonic).Add(every)
		if next >= end {
			break
		}
		if u.runtime.Sleep(ctx, next) != nil {
			return
		}
		ttl := u.extension()
		u.extend(ctx, h, ttl)
		every = u.nextExtension(ttl)
	}
	_ = u.runtime.Sleep(ctx, end)
}

// nextExtension is how long the client waits after an extension until it asks for the next: who
// asks for so many times the lock's TTL asks so many times less often.
func (u *user) nextExtension(ttl time.Duration) time.Duration {
	if ttl <= u.ttl {
		return u.client.ExtendEvery
	}
	return time.Duration(float64(u.client.ExtendEvery) * float64(ttl) / float64(u.ttl))
}

// extension draws the time to live that an extension asks for.
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

func (u *user) extend(ctx context.Context, h Hold, ttl time.Duration) {
	u.call(ctx, func(ctx context.Context) { _ = h.Extend(ctx, ttl) })
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

// section is one read-modify-write of a user who trusts the lock and looks at
// nothing else. It stops only when the resource refuses it.
func (u *user) section(h Hold) {
	if a, value, ok := u.prepare(h); ok {
		u.recorder.writeCalled(a, value)
		u.write(a, value)
	}
}

// checked is a section of a user who reads the clock once more before the write.
// What comes between that and the write's arrival nobody looks at.
func (u *user) checked(h Hold) {
	if a, value, ok := u.prepare(h); ok && u.check(h) == nil {
		u.recorder.writeCalled(a, value)
		u.write(a, value)
	}
}

// check asks the lock whether it is still held.
func (u *user) check(h Hold) error {
	u.recorder.checkCalled(h)
	err := h.Check()
	u.recorder.checkReturned(h, err)
	return err
}

// writeAsync is a section of a user who takes the write for done when it is sent.
func (u *user) writeAsync(h Hold) {
	a, value, ok := u.prepare(h)
	if !ok {
		return
	}
	u.recorder.writeCalled(a, value)
	u.posting = u.runtime.Go("write", func() { u.write(a, value) })
}

// finish waits for a write that was posted, so that each client has one under
// way at most, and does not leave before it is answered.
func (u *user) finish(ctx context.Context) {
	if u.posting != nil {
		_ = u.posting.Wait(ctx)
		u.posting = nil
	}
}

// prepare reads the resource and works. It returns what to write, and how; or
// not ok, if the resource refused.
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
	u.work(ctx, h)
	return a, value + 1, true
}

// write sends the write that was called, and waits for its answer.
func (u *user) write(a env.Access, value int64) {
	err := u.register.Write(context.Background(), a, value)
	u.recorder.writeReturned(a, value, err)
}

// fence is what the client shows to the guarded resource: what came with the
// grant, or what the client draws itself.
func (u *user) fence(ctx context.Context, h Hold) (uint64, error) {
	if fence := h.Fence(); fence != 0 || !u.client.Fence {
		return fence, nil
	}
	return u.register.Fence(ctx, h.Resource())
}

// invalidTTLs are times to live that no lock can keep to.
var invalidTTLs = []time.Duration{-time.Second, -1, 0, 1, 500 * time.Microsecond, time.Millisecond - 1}

// misuse holds the lock and does with it what is refused: the caller has made a
// mistake, and a lock owes it an error and not a promise. The release that follows
// is the second.
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
