package locks

import (
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/rueidislocktest"
)

// openRueidislock is rueidislock as its README shows it, with its majority of 2 keys, and
// caching on the client's side. It needs real servers: those in memory cannot track.
func openRueidislock(env locktest.Env) locktest.Locker {
	return rueidislocktest.New(env, rueidislock.LockerOption{})
}

// openRueidislockUncached is the same without caching.
func openRueidislockUncached(env locktest.Env) locktest.Locker {
	return rueidislocktest.New(env, rueidislock.LockerOption{ClientOption: rueidis.ClientOption{DisableCache: true}})
}

// openRueidislockSetPX is the latter, and acquires by SET PX in place of SET PXAT.
func openRueidislockSetPX(env locktest.Env) locktest.Locker {
	return rueidislocktest.New(env, rueidislock.LockerOption{ClientOption: rueidis.ClientOption{DisableCache: true}, FallbackSETPX: true})
}
