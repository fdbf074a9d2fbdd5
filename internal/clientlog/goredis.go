package clientlog

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"
)

// The logger of go-redis is set once, and not for each run: nothing returns the one that is set, so
// that one of the user's could not be restored. A logger that the user sets replaces this one.
func init() { redis.SetLogger(goRedis{}) }

// What go-redis' own logger writes, and the number of calls from its writer up to the line that
// logs.
const (
	goRedisPrefix = "redis: "
	goRedisFlags  = log.LstdFlags | log.Lshortfile
	goRedisCalls  = 3
)

// goRedisDefault writes as go-redis' own logger does.
var goRedisDefault = log.New(os.Stderr, goRedisPrefix, goRedisFlags)

// goRedis is go-redis' logger.
type goRedis struct{}

// Printf implements the interface of go-redis' loggers.
func (goRedis) Printf(_ context.Context, format string, args ...any) {
	to := goRedisDefault
	if captured := wanting(); len(captured) > 0 {
		to = log.New(logs(captured), goRedisPrefix, goRedisFlags)
	}
	_ = to.Output(goRedisCalls, fmt.Sprintf(format, args...))
}
