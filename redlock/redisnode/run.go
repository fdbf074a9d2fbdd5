package redisnode

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// setAndTellRun sets a key and asks in which run of the server that was carried out. All
// of it goes over one connection, and a connection lives no longer than the process at its
// other end: so the run is that of the SET.
func (n *Nodes) setAndTellRun(key string, cmd env.Command) *question {
	return &question{
		lines: [][]any{set(key, cmd), {"info", "server"}, {"get", n.note(cmd.Vouched)}},
		read:  readSetAndRun,
	}
}

func readSetAndRun(answers []*redis.Cmd) (env.Reply, error) {
	reply, err := readSet(answers)
	if err != nil {
		return reply, err
	}
	// From here on the key may have been set: a failure must not be taken for
	// one without effect.
	info, unheard := answers[1].Text()
	run, err := runID(info)
	if err = errors.Join(unheard, err); err != nil {
		return env.Reply{}, fmt.Errorf("the server did not tell its run: %v", err) //nolint:errorlint // wrapped, a refusal would be taken for one of the whole command
	}
	note, _ := answers[2].Text()
	reply.Run, reply.Vouched = run, note == run
	return reply, nil
}

// note is the key under which a server keeps the run that somebody has watched
// for so long. It needs no time to live, and has none but [Options.DefaultTTL].
func (n *Nodes) note(watched time.Duration) string {
	return fmt.Sprintf("%swatched for %dms", n.prefix, watched.Milliseconds())
}
