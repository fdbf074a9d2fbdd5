package redisnode_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// A node asked to set a key, and again under another token. A program uses package
// redlock for this, which asks all nodes and counts their replies: see its
// example.
func Example() {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	nodes, err := redisnode.New([]string{server.Addr()}, redisnode.Options{Prefix: "lock:"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer nodes.Close()

	giveUp := env.System().Now(env.Monotonic).Add(10 * time.Second)
	for _, token := range []string{"drawn for this try", "drawn for another"} {
		set := env.Command{Op: env.OpSet, Key: "invoice-7", Token: token, TTL: 10 * time.Second}
		reply, err := nodes.Send(env.AllNodes(1), set, giveUp).Next(context.Background(), env.Never)
		fmt.Println(reply.Node, reply.Answer, err)
	}
	// Output:
	// 1 yes <nil>
	// 1 no <nil>
}
