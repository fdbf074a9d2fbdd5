package redisnode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// setAndTellRun sets a key and asks in which run of the server that was carried out.
// What stands on one line goes over one connection, and a connection lives no longer than
// the process at its other end: so the run is that of the SET.
func (n *Nodes) setAndTellRun(ctx context.Context, line redis.Pipeliner, key string, cmd env.Command) answerOf {
	setting := set(ctx, line, key, cmd)
	info := line.Info(ctx, "server")
	note := line.Get(ctx, n.note(cmd.Vouched))
	return func() (env.Reply, error) {
		reply, err := setReply(setting)
		if err != nil {
			return reply, err
		}
		// From here on the key may have been set: a failure must not be taken for
		// one without effect.
		run, err := runID(info.Val())
		if err = errors.Join(info.Err(), err); err != nil {
			return env.Reply{}, fmt.Errorf("the server did not tell its run: %v", err) //nolint:errorlint // wrapped, a refusal would be taken for one of the whole command
		}
		reply.Run, reply.Vouched = run, note.Val() == run
		return reply, nil
	}
}

// note is the key under which a server keeps the run that somebody has watched
// for so long. It needs no time to live, and has none but [Options.DefaultTTL].
func (n *Nodes) note(watched time.Duration) string {
	return fmt.Sprintf("%swatched for %dms", n.prefix, watched.Milliseconds())
}

// runID finds the run in what INFO tells.
func runID(info string) (string, error) {
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "run_id:"); ok && id != "" {
			return id, nil
		}
	}
	return "", errors.New("INFO has no run_id")
}
