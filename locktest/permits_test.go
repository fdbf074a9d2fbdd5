package locktest_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// permits is a lock on one node whose holds can be shared: a script takes permits for a token, if there are
// enough, and another gives them back. Both get the token, the permits (0: all), the TTL in milliseconds and the
// capacity.
type permits struct {
	*oneNode
	capacity   int
	take, give *redis.Script
	shared     int // permits of a hold that does not take all; 0: as many as are asked for
}

func (l permits) Lock(ctx context.Context, resource string) (h locktest.Hold, err error) {
	h.Weight = locktest.Weight(ctx)
	if h.Weight > 0 && l.shared > 0 {
		h.Weight = l.shared
	}
	key := []string{fmt.Sprintf("%d:%s", len(resource), resource)}
	token := fmt.Sprintf("%s.%d", l.owner, l.tries.Add(1))
	args := []any{token, h.Weight, l.ttl.Milliseconds(), l.capacity}
	for {
		sent := time.Now()
		took, err := l.take.Run(ctx, l.client, key, args...).Bool()
		if h.Until = sent.Add(l.ttl); err == nil && took && time.Now().Before(h.Until) {
			h.Release = func(ctx context.Context) error {
				given, err := l.give.Run(ctx, l.client, key, args...).Bool()
				if err == nil && !given {
					err = locktest.ErrNotHeld
				}
				return err
			}
			return h, nil
		}
		select {
		case <-time.After(l.ttl / 40):
		case <-ctx.Done():
			return h, cmp.Or(err, ctx.Err())
		}
	}
}

// onSlots is a correct semaphore with a key for each permit.
func onSlots(capacity int) func(locktest.Env) locktest.Locker {
	take := redis.NewScript(`
		local want, free = tonumber(ARGV[2]), {}
		if want == 0 then want = tonumber(ARGV[4]) end
		for i = 1, tonumber(ARGV[4]) do
			if redis.call("EXISTS", KEYS[1] .. ":" .. i) == 0 then free[#free + 1] = i end
		end
		if #free < want then return 0 end
		for i = 1, want do redis.call("SET", KEYS[1] .. ":" .. free[i], ARGV[1], "PX", ARGV[3]) end
		return 1`)
	give := redis.NewScript(`
		local want, given = tonumber(ARGV[2]), 0
		if want == 0 then want = tonumber(ARGV[4]) end
		for i = 1, tonumber(ARGV[4]) do
			if redis.call("GET", KEYS[1] .. ":" .. i) == ARGV[1] then given = given + redis.call("DEL", KEYS[1] .. ":" .. i) end
		end
		if given >= want then return 1 end -- more, if an answer was lost and the request sent again
		return 0`)
	return func(env locktest.Env) locktest.Locker {
		return permits{oneNode: onOneNode(env), capacity: capacity, take: take, give: give}
	}
}

// readersWriter is a read-write lock with a key for each reader and one for the writer. Its parts select defects.
type readersWriter struct{ expiry, reader string }

// The parts of a correct one: the unit of the TTL, and what a reader's key is.
var correctReaders = readersWriter{`"PX", ARGV[3]`, `ARGV[1]`}

func (d readersWriter) open(env locktest.Env) locktest.Locker {
	script := func(text string) *redis.Script {
		return redis.NewScript(`
			local writer, readers, mine = KEYS[1] .. ":w", KEYS[1] .. ":readers", ` + d.reader + `
			local function of(reader) return KEYS[1] .. ":r:" .. reader end
			local function set(key) redis.call("SET", key, ARGV[1], ` + d.expiry + `) return 1 end` + text)
	}
	take := script(`
		if redis.call("EXISTS", writer) == 1 then return 0 end
		if ARGV[2] ~= "0" then redis.call("SADD", readers, mine) return set(of(mine)) end
		for _, r in ipairs(redis.call("SMEMBERS", readers)) do
			if redis.call("EXISTS", of(r)) == 1 then return 0 end
			redis.call("SREM", readers, r)
		end
		return set(writer)`)
	give := script(`
		local key = writer
		if ARGV[2] ~= "0" then key = of(mine) end
		if redis.call("GET", key) == ARGV[1] then return redis.call("DEL", key) end
		return 0`)
	return permits{oneNode: onOneNode(env), take: take, give: give, shared: 1}
}

// countingReaders is a read-write lock that counts its readers in one key. That has the TTL of the first reader, and
// the last one goes on without it.
func countingReaders(env locktest.Env) locktest.Locker {
	take := redis.NewScript(`
		if redis.call("EXISTS", KEYS[1] .. ":w") == 1 then return 0 end
		if ARGV[2] ~= "0" then
			if redis.call("INCR", KEYS[1]) == 1 then redis.call("PEXPIRE", KEYS[1], ARGV[3]) end
			return 1
		end
		if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
		redis.call("SET", KEYS[1] .. ":w", ARGV[1], "PX", ARGV[3])
		return 1`)
	give := redis.NewScript(`
		if ARGV[2] == "0" then
			if redis.call("GET", KEYS[1] .. ":w") == ARGV[1] then return redis.call("DEL", KEYS[1] .. ":w") end
			return 0
		end
		if redis.call("EXISTS", KEYS[1]) == 0 then return 0 end
		if redis.call("DECR", KEYS[1]) <= 0 then redis.call("DEL", KEYS[1]) end
		return 1`)
	return permits{oneNode: onOneNode(env), take: take, give: give, shared: 1}
}

// byClientTime is the simple semaphore of "Redis in Action": a client adds its time to a sorted set, from which it
// drops those that are older than the TTL, and holds a permit if few enough come before.
func byClientTime(capacity int) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		return locktest.LockerFunc(func(ctx context.Context, resource string) (h locktest.Hold, err error) {
			for {
				sent, token, key := time.Now(), fmt.Sprintf("%s.%d", l.owner, l.tries.Add(1)), "permits of "+resource
				var rank *redis.IntCmd
				_, err := l.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
					p.ZRemRangeByScore(ctx, key, "-inf", fmt.Sprint(env.Now().Add(-env.TTL).UnixMilli()))
					p.ZAdd(ctx, key, redis.Z{Score: float64(env.Now().UnixMilli()), Member: token})
					rank = p.ZRank(ctx, key, token)
					return nil
				})
				release := func(ctx context.Context) error {
					n, err := l.client.ZRem(ctx, key, token).Result()
					if err == nil && n == 0 {
						err = locktest.ErrNotHeld
					}
					return err
				}
				if until := sent.Add(env.TTL); err == nil && rank.Val() < int64(capacity) && time.Now().Before(until) {
					return locktest.Hold{Until: until, Weight: 1, Release: release}, nil
				}
				_ = release(context.WithoutCancel(ctx))
				select {
				case <-time.After(env.TTL / 40):
				case <-ctx.Done():
					return h, ctx.Err()
				}
			}
		})
	}
}

// inQueue is a read-write lock whose clients wait until no earlier entry is in their way, and then renew their own,
// which may have expired meanwhile: etcd-io/etcd#16221.
func inQueue(checks bool) func(locktest.Env) locktest.Locker {
	enqueue := redis.NewScript(`
		local n = redis.call("INCR", KEYS[1])
		redis.call("SET", KEYS[1] .. ":" .. n, ARGV[1], "PX", ARGV[2])
		return n`)
	first := redis.NewScript(`
		for i = 1, tonumber(ARGV[2]) - 1 do
			local v = redis.call("GET", KEYS[1] .. ":" .. i)
			if v and (string.sub(ARGV[1], 1, 1) == "w" or string.sub(v, 1, 1) == "w") then return 0 end
		end
		return redis.call("PEXPIRE", KEYS[1] .. ":" .. ARGV[2], ARGV[3]) + 1`)
	return func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		return locktest.LockerFunc(func(ctx context.Context, resource string) (h locktest.Hold, err error) {
			kind := "w"
			if locktest.Weight(ctx) > 0 {
				kind, h.Weight = "r", 1
			}
			token, key := fmt.Sprintf("%s%s.%d", kind, l.owner, l.tries.Add(1)), fmt.Sprintf("%d:%s", len(resource), resource)
			n, err := enqueue.Run(ctx, l.client, []string{key}, token, env.TTL.Milliseconds()).Int()
			mine := fmt.Sprintf("%s:%d", key, n)
			h.Release = func(ctx context.Context) error { return l.release(ctx, mine, token) }
			for ; err == nil; err = ctx.Err() {
				sent := time.Now()
				was, err := first.Run(ctx, l.client, []string{key}, token, n, env.TTL.Milliseconds()).Int()
				if h.Until = sent.Add(env.TTL); err == nil && (was == 2 || was == 1 && !checks) && time.Now().Before(h.Until) {
					return h, nil
				}
				if was == 1 {
					return h, errTaken // its entry has expired
				}
				select {
				case <-time.After(env.TTL / 40):
				case <-ctx.Done():
				}
			}
			_ = h.Release(context.WithoutCancel(ctx))
			return h, err
		})
	}
}

// permitLocks are locks with permits, and the storms of the default ones in which those with a defect break a
// promise.
var permitLocks = []struct {
	name     string
	capacity int
	open     func(locktest.Env) locktest.Locker
	storm    string // "": it is correct
	breaks   checker.Property
	cause    string // in the story
}{
	{"semaphore", 3, onSlots(3), "", "", ""},
	{"read-write lock", 1000, correctReaders.open, "", "", ""},
	{"queue", 1000, inQueue(true), "", "", ""},

	{"semaphore by the clients' clocks", 3, byClientTime(3), "clients-clocks-differ", checker.Lease, "4 holds took 4 of 3 permits"},
	{"readers with a TTL in seconds", 1000, readersWriter{`"EX", math.floor(ARGV[3] / 1000)`, `ARGV[1]`}.open, "fractional-ttl", checker.Backing, "counts on its keys for longer than it has asked"},
	{"readers that share a key", 1000, readersWriter{`"PX", ARGV[3]`, `"all"`}.open, "fractional-ttl", checker.Lease, "of 1000 permits"},
	{"a counter with the first reader's TTL", 1000, countingReaders, "fractional-ttl", checker.Lease, "of 1000 permits"},
	{"an entry that expires in the queue", 1000, inQueue(false), "fractional-ttl", checker.Backing, "key lived for its whole TTL, and the lock counted on it for longer"},
}

// Law: a hold cannot take permits that there are not, nor more than its caller asked for.
func TestWeightsAreChecked(t *testing.T) {
	taking := func(weight func(asked int) int) func(locktest.Env) locktest.Locker {
		return func(env locktest.Env) locktest.Locker {
			l := onOneNode(env)
			return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
				h, err := l.Lock(ctx, resource)
				h.Weight = weight(locktest.Weight(ctx))
				return h, err
			})
		}
	}
	for _, v := range []struct {
		capacity int
		weight   func(asked int) int
		err      string
	}{
		{1, func(int) int { return 1 }, ""},
		{1, func(int) int { return 2 }, "Weight 2: want 0 to Config.Capacity, which is 1"},
		{4, func(int) int { return -1 }, "Weight -1: want 0 to Config.Capacity, which is 4"},
		{4, func(asked int) int { return asked }, ""},
		{4, func(int) int { return 0 }, "Weight 0, though its caller asked for"},
	} {
		c := locktest.Config{Nodes: 1, Capacity: v.capacity, Rounds: 5}
		tried := locktest.Try(t, c, stormOf(t, c, "calm"), 1, taking(v.weight))
		if v.err == "" && tried.Err != nil || v.err != "" && (tried.Err == nil || !strings.Contains(tried.Err.Error(), v.err)) {
			t.Errorf("capacity %d: %v, want %q", v.capacity, tried.Err, v.err)
		}
	}
	c := locktest.Config{Nodes: 1, Capacity: -1}
	if tried := locktest.Try(t, c, locktest.Storm{Name: "calm"}, 1, taking(nil)); tried.Err == nil || !strings.HasPrefix(tried.Err.Error(), "locktest.Config.Capacity: -1: want") {
		t.Error(tried.Err)
	}
}

// permitStorms are the storms of correct locks: without faults, and those that take permits away, lose answers, or
// let callers hold several at once. A test of all takes minutes.
var permitStorms = []string{"calm", "fractional-ttl", "clients-clocks-differ", "holder-dies", "node-comes-back-late", "slow-network", "replies-are-lost", "callers-share-a-lock", "callers-give-up"}

// Law: locks with permits that are correct keep their promises, and those with a defect do not, for the right reason.
func TestLocksWithPermits(t *testing.T) {
	for _, l := range permitLocks {
		t.Run(l.name, func(t *testing.T) {
			c := locktest.Config{Nodes: 1, Capacity: l.capacity}
			storms := permitStorms
			if l.storm != "" {
				storms = []string{l.storm}
			}
			told := false
			for _, name := range storms {
				s := stormOf(t, c, name)
				for seed := uint64(1); seed <= 3 && !told && (seed == 1 || l.storm != ""); seed++ {
					tried := locktest.Try(t, c, s, seed, l.open)
					if tried.Err != nil {
						t.Fatal(s.Name, tried.Err)
					}
					for _, f := range tried.Broken {
						if l.storm == "" {
							t.Errorf("%s, seed %d: %s: %s", s.Name, seed, f.Property.Code(), f.Story())
						} else {
							t.Logf("%s, seed %d: %s: %s", s.Name, seed, f.Property.Code(), f.Story())
						}
						told = told || f.Property == l.breaks && strings.Contains(f.Story(), l.cause)
					}
				}
			}
			if told != (l.storm != "") {
				t.Errorf("%s is broken because of %q: %v", l.breaks, l.cause, told)
			}
		})
	}
}
