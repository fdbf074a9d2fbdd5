package rivals_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
)

// kubernetes is the name of the lock of client-go in [newLocker].
const kubernetes = "kubernetes-lease"

// leaseConfig has a deadline of renewals of 700 ms and requests of at most 350 ms, for a TTL of a second:
// about the proportions of client-go's defaults.
func leaseConfig() rivals.LeaseConfig {
	c := storeConfig()
	c.Allowance, c.NodeTimeout = 300*ms, 350*ms
	return rivals.LeaseConfig{Config: c, RetryPeriod: 100 * ms}
}

func leaseLock(p rivals.Ports) (locker, error) {
	return made(rivals.NewKubernetesLease(leaseConfig(), p))
}

// holder returns the token in the record.
func (s *store) holder() string {
	if left := s.left(); len(left) > 0 {
		return left[0].Token()
	}
	return "none: there is no record"
}

// Law: one holds at a time, fences grow, and what a release leaves behind is a record without a holder.
func TestLeaseExcludes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		fence := contend(t, kubernetes, s)
		if left := s.left(); len(left) != 1 || s.holder() != "" || fence != 20 {
			t.Errorf("%v is left, after fence %d", left, fence)
		}
	})
}

// A holder renews the record for as long as it likes, and candidates wait. A holder that is gone has
// the lock until the record has not changed for the TTL, on the candidate's clock.
func TestLeaseIsTakenOverWhenItHasNotChanged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, heard := newLocker(t, kubernetes, s)
		h := mustLock(t, lock)
		granted := make(chan time.Time, 1)
		other, _ := newLocker(t, kubernetes, s)
		go func() {
			next := mustLock(t, other)
			granted <- time.Now()
			mustRelease(t, next)
		}()
		pass(5 * time.Second)
		if len(granted) > 0 || h.Check() != nil || h.Verify(t.Context(), false) != nil {
			t.Errorf("another was granted the lock, or the holder has lost it: %v, %v", h.Check(), h.Verify(t.Context(), false))
		}
		s.breaks(func(r env.StoreRequest) (f fault) { // of the holder: the candidate does not renew yet
			if r.Op == env.StoreUpdate && env.EntryToken(r.Value) == h.Token() {
				f.lost = env.ErrStoreLost
			}
			return f
		})
		renewed := time.Unix(0, int64(heard.of(env.StepExtended)[len(heard.of(env.StepExtended))-1].Until)).Add(-800 * ms)
		pass(2 * time.Second)
		if took := (<-granted).Sub(renewed); took < time.Second || took > 1100*ms {
			t.Errorf("granted %v after the last renewal", took)
		}
		if err := h.Check(); !errors.Is(err, rivals.ErrExpiring) {
			t.Errorf("the former holder: %v", err)
		}
	})
}

// A try that does not know whether it is the holder empties the record as soon as it can: nobody is
// locked out for a TTL.
func TestUncertainTryOfALease(t *testing.T) {
	for about, made := range map[string]fault{
		"the reply is lost":   {mute: env.ErrTimeout},
		"the request is late": {delay: 400 * ms},
	} {
		for _, op := range []env.StoreOp{env.StoreCreate, env.StoreUpdate} {
			inBubble(t, func(t *testing.T) {
				s := newStore()
				lock, heard := newLocker(t, kubernetes, s)
				if op == env.StoreUpdate {
					mustRelease(t, mustLock(t, lock))
				}
				synctest.Wait()
				before := s.count(op)
				s.breaks(func(r env.StoreRequest) (f fault) {
					if r.Op == op && s.asked[op] == before+1 {
						return made
					}
					return f
				})
				begin := time.Now()
				h := mustLock(t, lock)
				if took := time.Since(begin); took > 100*ms {
					t.Errorf("%s of a %v: the client was its own rival for %v", about, op, took)
				}
				pass(2 * time.Second)
				if s.holder() != h.Token() || len(heard.of(env.StepLost)) > 0 || h.Check() != nil {
					t.Errorf("%s of a %v: %v is left, %s holds, %v", about, op, s.left(), h.Token(), h.Check())
				}
				mustRelease(t, h)
			})
		}
	}
}

// A try that was cancelled while its write was under way leaves no holder behind.
func TestCancelledTryOfALease(t *testing.T) {
	for _, delay := range []time.Duration{0, 20 * ms, 600 * ms} {
		inBubble(t, func(t *testing.T) {
			s := newStore()
			s.fault = func(r env.StoreRequest) (f fault) {
				if r.Op == env.StoreCreate {
					f.delay, f.late = delay, 50*ms
				}
				return f
			}
			lock, _ := newLocker(t, kubernetes, s)
			ctx, cancel := context.WithTimeout(t.Context(), 5*ms)
			defer cancel()
			if h, err := lock(ctx, "r"); err == nil {
				t.Errorf("granted %v", h)
			}
			pass(2 * time.Second)
			if s.holder() != "" {
				t.Errorf("delayed by %v: %v is left", delay, s.left())
			}
		})
	}
}

// A renewal that is under way when the lock is released changes the record: the release finds that,
// and the record has no holder in the end.
func TestReleaseDuringARenewal(t *testing.T) {
	for at := range 6 {
		inBubble(t, func(t *testing.T) {
			s := newStore()
			lock, _ := newLocker(t, kubernetes, s)
			h := mustLock(t, lock)
			s.breaks(func(r env.StoreRequest) (f fault) {
				if env.EntryToken(r.Value) == h.Token() {
					f.late = 10 * ms
				}
				return f
			})
			time.Sleep(100*ms + time.Duration(at)*ms)
			mustRelease(t, h)
			pass(time.Second)
			if s.holder() != "" {
				t.Errorf("released %d ms after a renewal began: %v is left", at, s.left())
			}
		})
	}
}

// canceled returns a context that ends after a while.
func canceled(after time.Duration) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(after, cancel)
	return ctx
}

// A holder that has lost the lease gets it back if it becomes free before its deadline. It keeps the
// fence that it had, which is an old one then.
func TestLeaseIsTakenBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, _ := newLocker(t, kubernetes, s)
		h := mustLock(t, lock)
		pass(50 * ms)
		s.mu.Lock()
		for key, e := range s.entries { // as by a late release: see above
			s.revision++
			e.Value, e.Revision = " 1000 0 0 0", s.revision
			s.entries[key] = e
		}
		s.mu.Unlock()
		pass(200 * ms)
		if s.holder() != h.Token() || h.Check() != nil || h.Fence() != 1 {
			t.Errorf("%v is left, %v, fence %d", s.left(), h.Check(), h.Fence())
		}
		mustRelease(t, h)
	})
}

// A store without a leader is asked again, and no record is left with a holder.
func TestLeaseWithoutALeader(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		up := time.Now().Add(time.Second)
		s.fault = func(env.StoreRequest) (f fault) {
			if time.Now().Before(up) {
				f.lost = env.ErrNoLeader
			}
			return f
		}
		lock, heard := newLocker(t, kubernetes, s)
		mustRelease(t, mustLock(t, lock))
		if refused := heard.of(env.StepRefused); len(refused) == 0 || !errors.Is(refused[0].Err, env.ErrNoLeader) || s.holder() != "" {
			t.Errorf("refused %v, %v is left", refused, s.left())
		}
	})
}

// A record that is no record of a lease is never overwritten.
func TestForeignRecord(t *testing.T) {
	for _, value := range []string{"", "a", "a 1 2 3", "a 1 2 3 x"} {
		inBubble(t, func(t *testing.T) {
			s := newStore()
			s.entries["r"] = env.Entry{Key: "r", Value: value, Revision: 7}
			lock, _ := newLocker(t, kubernetes, s)
			if h, err := lock(canceled(2*time.Second), "r"); err == nil {
				t.Errorf("granted %v", h)
			}
			if left := s.left(); len(left) != 1 || left[0].Value != value {
				t.Errorf("%q has become %v", value, left)
			}
		})
	}
}

func TestImpossibleLeaseConfigs(t *testing.T) {
	for name, change := range map[string]func(*rivals.LeaseConfig){
		"no TTL":                    func(c *rivals.LeaseConfig) { c.TTL = 0 },
		"no retry period":           func(c *rivals.LeaseConfig) { c.RetryPeriod = 0 },
		"a retry period of 1/1.2":   func(c *rivals.LeaseConfig) { c.RetryPeriod = 584 * ms },
		"no retry delay":            func(c *rivals.LeaseConfig) { c.RetryMin, c.RetryMax, c.Tries = 0, 0, 1 },
		"an allowance like the TTL": func(c *rivals.LeaseConfig) { c.Allowance = c.TTL },
	} {
		c := leaseConfig()
		change(&c)
		if _, err := rivals.NewKubernetesLease(c, rivals.Ports{}); !errors.Is(err, rivals.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
