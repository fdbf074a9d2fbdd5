//go:build linux

package redisnode_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// What pays no heed to whose key it is does what Redis' own command does, under
// the prefix, and tells what it found.
func TestPlainCommands(t *testing.T) {
	plainCommands(t, redisnode.Options{Prefix: "lock:"})
}

// Where keys are given an end that no command asks for, nothing else is different.
func TestKeysThatWouldLiveForEver(t *testing.T) {
	plainCommands(t, redisnode.Options{Prefix: "lock:", DefaultTTL: 5 * time.Hour})

	b := newBench(t, 1, redisnode.Options{DefaultTTL: 5 * time.Hour})
	b.want(env.Command{Op: env.OpRaise, Key: "fence", Count: 7}, env.Yes)
	b.want(env.Command{Op: env.OpRaise, Key: "fence", Count: 6}, env.No)
	b.holds("fence", "7")
	b.want(vouch("run", time.Minute), env.Yes)
	for _, key := range []string{"fence", "watched for 60000ms"} {
		b.lives(key, 4*time.Hour, 5*time.Hour)
	}
}

func plainCommands(t *testing.T, o redisnode.Options) {
	t.Helper()
	b := newBench(t, 1, o)
	ask := func(op env.Op, token string) string {
		c := env.Command{Op: op, Key: "key", Token: token, TTL: time.Hour}
		r, err := b.nodes.Send(1, c, in(patience)).Next(context.Background(), env.Never)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.Answer, " ", r.Token, r.Count)
	}
	for _, s := range []struct {
		op          env.Op
		token, want string
		left        string
		life        time.Duration // -1: for ever; 0: there is no key
	}{
		{env.OpGet, "", "no 0", "", 0},
		{env.OpRemove, "", "no 0", "", 0},
		{env.OpExpire, "", "no 0", "", 0},
		{env.OpAdd, "a", "yes 0", "a", -1},
		{env.OpAdd, "b", "no 0", "a", -1},
		{env.OpGet, "", "yes a0", "a", -1},
		{env.OpExpire, "b", "yes 0", "a", time.Hour},
		{env.OpPut, "b", "yes 0", "b", -1},
		{env.OpIncrement, "", "failed 0", "b", -1},
		{env.OpRemove, "c", "yes 0", "", 0},
		{env.OpIncrement, "", "yes 1", "1", -1},
		{env.OpIncrement, "", "yes 2", "2", -1},
	} {
		if got := ask(s.op, s.token); got != s.want {
			t.Errorf("%v %s: %s, want %s", s.op, s.token, got, s.want)
		}
		b.holds("lock:key", s.left)
		b.holds("key", "")
		switch {
		case s.life > 0:
			b.lives("lock:key", s.life-time.Minute, s.life)
		case s.life < 0 && o.DefaultTTL > 0:
			b.lives("lock:key", o.DefaultTTL-time.Minute, o.DefaultTTL)
		case s.life < 0:
			b.lives("lock:key", -1, -1)
		}
	}
}
