package locktest_test

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/locktest"
)

// oneNode is a lock on one key of one node, in plain go-redis. Its fields select defects.
type oneNode struct {
	client *redis.Client
	owner  string
	ttl    time.Duration

	plainDel bool // releases by DEL, whoever holds it
	lies     bool // says of each release that the lock was held until then
	noExpiry bool // sets a key that stays
	twoSteps bool // asks first, and sets then
	endless  bool // tells no end of validity
	hollow   bool // says that it has extended what it has not
	stiff    bool // extends nothing, and says so
	overlong bool // tells an end of validity that the key does not see
	late     bool // takes a grant whose answer came too late
	forever  bool // tries for ever, whatever becomes of the context
	fenced   bool // draws a fence
	stale    bool // draws it before it waits for the lock
	early    bool // draws it before each try
	anybody  bool // extends whoever's key it is
	twoCalls bool // releases by GET and DEL
	seconds  bool // cuts the TTL of its keys to whole seconds

	loadsOnce bool // sends a script once, and its hash from then on
	loaded    bool

	tries atomic.Int64 // callers may share the lock
}

func onOneNode(env locktest.Env) *oneNode { return withRetries(env, -1) }

// sendingAgain is a lock whose client sends a request again if it gets no reply, as go-redis does by
// default.
func sendingAgain(env locktest.Env) *oneNode { return withRetries(env, 0) }

func withRetries(env locktest.Env, retries int) *oneNode {
	client := redis.NewClient(&redis.Options{
		Addr: env.Addrs[0], Dialer: env.Dial, MaxRetries: retries, ContextTimeoutEnabled: true,
		DialTimeout: env.TTL / 4, ReadTimeout: env.TTL / 4, WriteTimeout: env.TTL / 4,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	env.Cleanup(client.Close)
	return &oneNode{client: client, owner: fmt.Sprint(env.Client), ttl: env.TTL}
}

var errTaken = errors.New("somebody else holds it")

func (l *oneNode) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	token := fmt.Sprintf("%s.%d", l.owner, l.tries.Add(1))
	for drawn := uint64(0); ; {
		if l.early || l.stale && drawn == 0 {
			drawn = l.fence(ctx, resource)
		}
		hold, err := l.try(ctx, resource, token)
		if err == nil {
			hold.Fence = max(hold.Fence, drawn)
			return hold, nil
		}
		select {
		case <-time.After(l.ttl / 40):
		case <-ctx.Done():
			if !l.forever {
				return locktest.Hold{}, err
			}
			time.Sleep(l.ttl / 40)
		}
	}
}

func (l *oneNode) try(ctx context.Context, resource, token string) (h locktest.Hold, err error) {
	sent := time.Now()
	if err := l.set(ctx, resource, token); err != nil {
		return h, err
	}
	if l.fenced {
		h.Fence = l.fence(ctx, resource)
	}
	if !l.endless {
		h.Until = sent.Add(l.ttl)
		if l.overlong {
			h.Until = h.Until.Add(l.ttl)
		}
		if !l.late && !time.Now().Before(h.Until) {
			return h, errors.New("the answer came too late")
		}
	}
	h.Release = func(ctx context.Context) error { return l.release(ctx, resource, token) }
	h.Extend = func(ctx context.Context) (time.Time, error) { return l.extend(ctx, resource, token) }
	return h, nil
}

func (l *oneNode) set(ctx context.Context, resource, token string) error {
	ttl := l.ttl
	if l.seconds {
		ttl = ttl.Truncate(time.Second)
	}
	if l.noExpiry {
		ttl = 0
	}
	if l.twoSteps {
		if n, err := l.client.Exists(ctx, resource).Result(); err != nil || n > 0 {
			return errors.Join(err, errTaken)
		}
		return l.client.Set(ctx, resource, token, ttl).Err()
	}
	set, err := l.client.SetNX(ctx, resource, token, ttl).Result()
	if err == nil && !set {
		err = errTaken
	}
	return err
}

// fence returns 0 if the lock has no fences.
func (l *oneNode) fence(ctx context.Context, resource string) uint64 {
	n, _ := l.client.Incr(ctx, resource+"/fence").Uint64()
	return n
}

var deleteMine = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

func (l *oneNode) release(ctx context.Context, resource, token string) error {
	if l.plainDel {
		return l.client.Del(ctx, resource).Err()
	}
	if l.twoCalls {
		if value, err := l.client.Get(ctx, resource).Result(); err != nil || value != token {
			return errors.Join(err, errTaken)
		}
		return l.client.Del(ctx, resource).Err()
	}
	run := deleteMine.Run
	if l.loadsOnce {
		if run = deleteMine.Eval; l.loaded {
			run = deleteMine.EvalSha
		}
		l.loaded = true
	}
	n, err := run(ctx, l.client, []string{resource}, token).Int()
	if err == nil && n == 0 && !l.lies {
		err = locktest.ErrNotHeld
	}
	return err
}

var extendMine = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`)

func (l *oneNode) extend(ctx context.Context, resource, token string) (time.Time, error) {
	sent := time.Now()
	if l.stiff {
		return sent, locktest.ErrNotHeld
	}
	if l.hollow {
		return sent.Add(l.ttl), nil
	}
	if l.anybody {
		return sent.Add(l.ttl), l.client.PExpire(ctx, resource, l.ttl).Err()
	}
	n, err := extendMine.Run(ctx, l.client, []string{resource}, token, l.ttl.Milliseconds()).Int()
	if err == nil && n == 0 {
		err = locktest.ErrNotHeld
	}
	return sent.Add(l.ttl), err
}

// onMajority is Redlock as its page describes it.
type onMajority struct {
	nodes   []*oneNode
	ttl     time.Duration
	litters bool // leaves behind what a try has set that came to nothing
}

func onAllNodes(env locktest.Env) *onMajority {
	l := &onMajority{ttl: env.TTL}
	for i := range env.Addrs {
		one := env
		one.Addrs = env.Addrs[i:]
		l.nodes = append(l.nodes, onOneNode(one))
	}
	return l
}

// each asks every node, and counts those that say yes and those that do not have the key.
// The others are unknown.
func (l *onMajority) each(ask func(*oneNode) error) (yes, no int) {
	answers := make(chan error, len(l.nodes))
	for _, n := range l.nodes {
		go func() { answers <- ask(n) }()
	}
	for range l.nodes {
		switch err := <-answers; {
		case err == nil:
			yes++
		case errors.Is(err, locktest.ErrNotHeld):
			no++
		}
	}
	return yes, no
}

func (l *onMajority) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	for {
		token := crand.Text()
		sent := time.Now()
		set, _ := l.each(func(n *oneNode) error { return n.set(ctx, resource, token) })
		until := sent.Add(l.ttl - l.ttl/100)
		if set > len(l.nodes)/2 && time.Now().Before(until) {
			return locktest.Hold{
				Until:   until,
				Release: func(ctx context.Context) error { return l.release(ctx, resource, token) },
			}, nil
		}
		if !l.litters {
			_ = l.release(context.WithoutCancel(ctx), resource, token)
		}
		select {
		case <-time.After(l.ttl/40 + time.Duration(rand.Int64N(int64(l.ttl/20)))):
		case <-ctx.Done():
			return locktest.Hold{}, ctx.Err()
		}
	}
}

func (l *onMajority) release(ctx context.Context, resource, token string) error {
	yes, no := l.each(func(n *oneNode) error { return n.release(ctx, resource, token) })
	switch quorum := len(l.nodes)/2 + 1; {
	case yes >= quorum:
		return nil
	case no >= quorum:
		return locktest.ErrNotHeld
	}
	return errors.New("too few nodes have said whether it was held")
}
