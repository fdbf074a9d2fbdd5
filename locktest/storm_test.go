package locktest_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/locktest"
)

// A lock that is right on one node keeps what is promised, in every storm.
func TestOneNodeThatIsRight(t *testing.T) {
	locktest.Run(t, locktest.Config{Nodes: 1}, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
}
