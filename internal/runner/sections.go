package runner

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

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

// posted is a section of a user who takes the write for done when it is sent.
func (u *user) posted(h Hold) {
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
	if fence := h.Fence(); fence != 0 || !u.what.Fence {
		return fence, nil
	}
	return u.register.Fence(ctx, h.Resource())
}
