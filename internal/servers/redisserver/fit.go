//go:build linux

package redisserver

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
)

// checkVersion refuses a redis-server that is too old, before it is started. One that does
// not tell its version shows at its start what it is.
func checkVersion(ctx context.Context, binary string, o Options) error {
	told := ServerVersion(ctx, binary)
	v, err := preflight.ParseVersion(told)
	if err != nil {
		return nil
	}
	least, why := preflight.LeastVersion, "to be a node of a lock"
	if o.EverySecond || o.Journal || o.Torn {
		least, why = aof.LeastVersion, "to be given back what was on its disk at a time before"
	}
	if v.Before(least) {
		return fmt.Errorf("%s is Redis %s, which is too old %s: %v is the least", binary, told, why, least)
	}
	return nil
}
