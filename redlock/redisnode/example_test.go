package redisnode_test

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Three independent masters, asked once to set a key. A program uses package
// redlock for this, which also counts the replies.
func Example() {
	runtime := env.System()
	nodes := redisnode.New([]string{
		"10.0.0.1:6379",
		"10.0.0.2:6379",
		"10.0.0.3:6379",
	}, redisnode.Options{Runtime: runtime, Prefix: "lock:"})
	defer nodes.Close()

	set := env.Command{Op: env.OpSet, Key: "invoice-7", Token: "a token drawn for this try", TTL: 10 * time.Second}
	giveUp := runtime.Now(env.Monotonic).Add(50 * time.Millisecond)
	for round := nodes.Send(env.AllNodes(nodes.Len()), set, giveUp); ; {
		reply, err := round.Next(context.Background(), env.Never)
		if err != nil {
			break // env.ErrRoundOver
		}
		fmt.Println(reply.Node, reply.Answer)
	}
}
