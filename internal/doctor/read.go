package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// reading is what was read of one server.
type reading struct {
	address  string
	err      error             // why nothing was read; nil: something was
	settings map[string]string // fields of INFO and settings of CONFIG, by their names there
	unread   map[string]string // why a command of the doctor was refused, by the command

	pings    []time.Duration // sorted
	clock    *Clock
	sentinel int64           // how many Sentinels follow its messages; -1: not read
	commands map[string]bool // whether it has a command of a lock; nil: not read
	rights   []string        // the commands of a lock that the user may not use
	wrote    bool            // with Options.Write: a lock was tried
	tried    []string        // what was wrong with it
}

// configs are the settings that are read by CONFIG GET. INFO has some of them, for users without CONFIG.
var configs = []string{"maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "no-appendfsync-on-rewrite", "save"}

// read reads a server.
func (t target) read(ctx context.Context, o Options) reading {
	r := reading{address: t.address, settings: map[string]string{}, unread: map[string]string{}, sentinel: -1}
	c := redis.NewClient(t.connect)
	defer func() { _ = c.Close() }()
	if err := c.Ping(ctx).Err(); err != nil {
		if r.err = t.explain(err); r.err != nil {
			return r
		}
		r.refused("PING", err)
	}
	r.readSettings(ctx, c)
	if r.settings["redis_mode"] == "sentinel" {
		return r
	}
	r.readClock(ctx, c)
	r.readRights(ctx, c, t.connect.Username)
	if o.Write {
		r.wrote = true
		r.try(ctx, c)
	}
	r.ping(ctx, c, o)
	return r
}

// refused notes that a command was not answered.
func (r *reading) refused(command string, err error) {
	text := err.Error()
	if !isRedisError(err) {
		text = "no reply"
	}
	r.unread[command] = text
}

func (r *reading) readSettings(ctx context.Context, c *redis.Client) {
	sections, err := c.InfoMap(ctx).Result()
	if err != nil {
		r.refused("INFO", err)
	}
	for _, fields := range sections {
		for name, value := range fields {
			r.settings[name] = strings.TrimSpace(value)
		}
	}
	if r.settings["redis_mode"] == "sentinel" {
		return
	}
	if policy, is := r.settings["maxmemory_policy"]; is {
		r.settings["maxmemory-policy"] = policy
	}
	if aof, is := r.settings["aof_enabled"]; is {
		r.settings["appendonly"] = map[string]string{"0": "no", "1": "yes"}[aof]
	}
	for _, name := range configs {
		values, err := c.ConfigGet(ctx, name).Result()
		if err != nil {
			r.refused("CONFIG GET", err)
			break
		}
		for name, value := range values {
			r.settings[name] = value
		}
	}
	if counts, err := c.PubSubNumSub(ctx, sentinelChannel).Result(); err != nil {
		r.refused("PUBSUB NUMSUB", err)
	} else {
		r.sentinel = counts[sentinelChannel]
	}
}

// sentinelChannel is the channel of a master to which each Sentinel that watches it subscribes.
const sentinelChannel = "__sentinel__:hello"

// clockReadings is how often the clock is read. The reading with the shortest round trip counts.
const clockReadings = 5

func (r *reading) readClock(ctx context.Context, c *redis.Client) {
	for range clockReadings {
		before := time.Now()
		there, err := c.Time(ctx).Result()
		took := time.Since(before)
		if err != nil {
			r.refused("TIME", err)
			return
		}
		if half := Duration(took / 2); r.clock == nil || half < r.clock.Error {
			r.clock = &Clock{Duration(there.Sub(before.Add(took / 2))), half}
		}
	}
}

// ping sends PINGs at a low rate.
func (r *reading) ping(ctx context.Context, c *redis.Client, o Options) {
	next := time.NewTicker(o.PingInterval)
	defer next.Stop()
	for range o.Pings {
		before := time.Now()
		if err := c.Ping(ctx).Err(); err != nil {
			if ctx.Err() == nil || len(r.pings) == 0 {
				r.refused("PING", err)
			}
			break
		}
		r.pings = append(r.pings, time.Since(before))
		select {
		case <-next.C:
		case <-ctx.Done():
		}
	}
	slices.Sort(r.pings)
}

// lockCommands are the commands of a lock with the arguments that it gives them.
var lockCommands = [][]any{
	{"set", "lockstorm:doctor", "token", "nx", "px", 1000},
	{"get", "lockstorm:doctor"},
	{"pttl", "lockstorm:doctor"},
	{"pexpire", "lockstorm:doctor", 1000},
	{"del", "lockstorm:doctor"},
	{"eval", "return 1", 1, "lockstorm:doctor"},
	{"evalsha", strings.Repeat("0", 40), 1, "lockstorm:doctor"},
}

// compareAndDelete are commands that do what the release script does.
var compareAndDelete = []string{"delex", "delifeq"}

// readRights reads which commands the server has, and the user may use.
func (r *reading) readRights(ctx context.Context, c *redis.Client, user string) {
	names := []any{"command", "info"}
	for _, command := range lockCommands {
		names = append(names, command[0])
	}
	for _, name := range compareAndDelete {
		names = append(names, name)
	}
	known, err := c.Do(ctx, names...).Slice()
	if err != nil {
		r.refused("COMMAND INFO", err)
	} else {
		r.commands = map[string]bool{}
		for i, name := range names[2:] {
			r.commands[name.(string)] = i < len(known) && known[i] != nil
		}
	}
	if user == "" {
		user = "default"
	}
	for _, command := range lockCommands {
		said, err := c.ACLDryRun(ctx, user, command...).Result()
		switch {
		case err != nil:
			r.refused("ACL DRYRUN", err)
			return
		case strings.HasSuffix(fmt.Sprint(said), " key"): // a user of other keys, who may use the command
		case said != "OK":
			r.rights = append(r.rights, strings.ToUpper(fmt.Sprint(command[0])))
		}
	}
}

// releaseScript deletes a key if it has a token.
const releaseScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`

// tryTTL is how long the key of try lives if it cannot be deleted.
const tryTTL = 10 * time.Second

// try locks and releases a key of its own.
func (r *reading) try(ctx context.Context, c *redis.Client) {
	key, token := "lockstorm:doctor:"+rand.Text(), rand.Text()
	step := func(name string, err error, right bool) bool {
		switch {
		case err != nil && !isRedisError(err) && !errors.Is(err, redis.Nil):
			r.refused(name, err)
		case err != nil:
			r.tried = append(r.tried, name+": "+err.Error())
		case !right:
			r.tried = append(r.tried, name+": unexpected reply")
		}
		return err == nil && right
	}
	set, err := c.Do(ctx, "set", key, token, "nx", "px", tryTTL.Milliseconds()).Text()
	if !step("SET NX PX", err, set == "OK") {
		return
	}
	got, err := c.Get(ctx, key).Result()
	step("GET", err, got == token)
	deleted, err := c.Eval(ctx, releaseScript, []string{key}, token).Int()
	if !step("EVAL", err, deleted == 1) {
		_ = c.Del(ctx, key).Err() // otherwise it expires
	}
}
