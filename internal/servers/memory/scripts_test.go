package memory

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/nemesis"
)

// scripts are scripts with one key and two arguments, and whether the interpreter of the server runs
// them. Each does the same however often it is run.
var scripts = map[string]bool{
	`return redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])`:                                                                                        true,
	`redis.call("SET", KEYS[1], ARGV[1]) if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`:                 true,
	`return redis.call("GET", "nothing")`:                                                                                                              true,
	`return {1, "two", {3, {ok = "FOUR"}}, false, true, 2.9, nil, "unseen"}`:                                                                           true,
	`return {err = "MINE of my own"}`:                                                                                                                  true,
	`redis.call("HSET", "h", "a", 1, "b", "2") return redis.call("HGETALL", "h")`:                                                                      true,
	`redis.call("DEL", "l") redis.call("RPUSH", "l", "a", "b") local n = 0 for i, v in ipairs(redis.call("LRANGE", "l", 0, -1)) do n = i end return n`: true,
	`return redis.call("INCRBY", "counter", 0) + tonumber(ARGV[2])`:                                                                                    true,
	`return string.upper(ARGV[1]) .. #KEYS .. table.concat(ARGV, "-") .. math.max(1, 2)`:                                                               true,
	`redis.call("SET", "text", "x") return redis.pcall("INCR", "text")`:                                                                                true,
	`local reply = redis.pcall("NOTHING") return reply.err ~= nil`:                                                                                     true,
	`return redis.sha1hex(ARGV[1])`:                                                                                                                    false,
	`return cjson.encode({1, 2})`:                                                                                                                      false,
	`redis.call("SELECT", 3) return redis.call("SET", "there", 1)`:                                                                                     false,
	`local call = redis.call return call("PING")`:                                                                                                      false,
	`return redis.status_reply("FINE")`:                                                                                                                false,
}

// failing are scripts that fail if the argument is "bad", and the error. Where it is not that of a
// command, the stacks that follow differ.
var failing = map[string]string{
	`if ARGV[1] == "bad" then redis.call("SET", "text", "x") return redis.call("INCR", "text") end return 1`: "<nil>, ERR value is not an integer or out of range",
	`if ARGV[1] == "bad" then mine = 1 end return 1`:                                                         "Script attempted to create global variable 'mine'",
	`if ARGV[1] == "bad" then return mine end return 1`:                                                      "Script attempted to access nonexistent global variable 'mine'",
	`if ARGV[1] == "bad" then return redis.call({}) end return 1`:                                            "Lua redis lib command arguments must be strings or integers",
	`if ARGV[1] == "bad" then error("of the script") end return 1`:                                           "of the script",
}

// eval runs a script by EVALSHA, or by EVAL.
func eval(client *redis.Client, bySum bool, script, first string) string {
	if bySum {
		sum := sha1.Sum([]byte(script))
		value, err := client.EvalSha(context.Background(), hex.EncodeToString(sum[:]), []string{"key"}, first, 5000).Result()
		return fmt.Sprintf("%#v, %v", value, err)
	}
	value, err := client.Eval(context.Background(), script, []string{"key"}, first, 5000).Result()
	return fmt.Sprintf("%#v, %v", value, err)
}

// Law: the interpreter of a server answers as miniredis does, which runs each script the first time.
func TestScriptsAreAnsweredAsByMiniredis(t *testing.T) {
	try(t, nemesis.Setting{}, func(w *testWorld, _ int) {
		client := w.own(1, 1)
		defer client.Close()
		for script, own := range scripts {
			first := eval(client, false, script, "good")
			for _, bySum := range []bool{false, true, true} {
				if again := eval(client, bySum, script, "good"); again != first {
					w.t.Errorf("%s\nfirst %s\nthen  %s", script, first, again)
				}
			}
			if known := knows(w.t, script); known != own {
				w.t.Errorf("%s: run by the interpreter: %v", script, known)
			}
		}
	})
}

// Law: so it does for scripts that fail, after which it works on.
func TestScriptsFailAsByMiniredis(t *testing.T) {
	try(t, nemesis.Setting{}, func(w *testWorld, _ int) {
		client := w.own(1, 1)
		defer client.Close()
		for script, text := range failing {
			first := eval(client, false, script, "bad") // a script that has failed is not known
			good := eval(client, false, script, "good")
			if again := eval(client, true, script, "bad"); !strings.Contains(again, text) || !strings.Contains(first, text) {
				w.t.Errorf("%s\nfirst %s\nthen  %s, want %s", script, first, again, text)
			}
			if again := eval(client, true, script, "good"); again != good || !knows(w.t, script) {
				w.t.Errorf("%s: first %s, then %s", script, good, again)
			}
		}
	})
}

// Law: scripts of a transaction, on another database, and after the server has forgotten them are run
// as others.
func TestScriptsOfConnections(t *testing.T) {
	const put = `return redis.call("SET", KEYS[1], ARGV[1])`
	try(t, nemesis.Setting{}, func(w *testWorld, _ int) {
		ctx, client := w.t.Context(), w.own(1, 1)
		defer client.Close()
		one := client.Conn() // a connection of its own
		defer one.Close()
		get := func(want string) {
			w.t.Helper()
			if got := one.Get(ctx, "key").Val(); got != want {
				w.t.Errorf("the key is %q, not %q", got, want)
			}
		}
		for _, value := range []string{"a", "b"} {
			one.Eval(ctx, put, []string{"key"}, value)
			get(value)
		}
		one.Select(ctx, 3)
		get("")
		one.Eval(ctx, put, []string{"key"}, "elsewhere")
		get("elsewhere")
		one.Select(ctx, 0)
		get("b")
		var queued *redis.Cmd
		_, err := one.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "key", "before", 0)
			queued = p.Eval(ctx, `return redis.call("GET", KEYS[1])`, []string{"key"})
			p.Set(ctx, "key", "after", 0)
			return nil
		})
		if err != nil || queued.Val() != "before" {
			w.t.Errorf("in a transaction: %v, %v", queued.Val(), err)
		}
		one.ScriptFlush(ctx)
		sum := one.ScriptLoad(ctx, `return 7`).Val()
		for range 2 {
			if got, err := one.EvalSha(ctx, sum, nil).Int(); got != 7 {
				w.t.Errorf("a script that was loaded: %d, %v", got, err)
			}
		}
		one.ScriptFlush(ctx)
		if err := one.EvalSha(ctx, sum, nil).Err(); err == nil || !redis.HasErrorPrefix(err, "NOSCRIPT") {
			w.t.Errorf("a script that was flushed: %v", err)
		}
	})
}

// knows reports whether an interpreter knows a script after it has learnt it.
func knows(t *testing.T, script string) bool {
	t.Helper()
	i := newInterpreter(nil)
	i.learn(script)
	f, _, _ := i.find([]string{"EVAL", script, "0"})
	return f != nil
}
