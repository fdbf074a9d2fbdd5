package locktest_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/locktest"
)

// dumpOfBubble is shaped like one of redsync, which starts a goroutine for each node.
const dumpOfBubble = `goroutine 9 [sync.RWMutex.Lock, synctest bubble 7]:
sync.(*RWMutex).Lock(0x28ca5c640b50?)
	sync/rwmutex.go:155 +0x6b
github.com/redis/go-redis/v9.cmdable.SetNX(0x28ca5d042040, {0xcca988, 0x28ca5e08be30}, {0xc61105, 0x9}, {0xaeb900, 0x28ca5cf56810}, 0xb76901?)
	github.com/redis/go-redis/v9@v9.23.0/string_commands.go:631 +0x5b0
created by github.com/go-redsync/redsync/v4.(*Mutex).actOnPoolsAsync in goroutine 8
	github.com/go-redsync/redsync/v4@v4.18.1/mutex.go:278 +0x8b

goroutine 8 [chan receive (durable), 2 minutes, synctest bubble 7]:
github.com/go-redsync/redsync/v4.(*Mutex).lockContext(0x28ca5d042040)
	github.com/go-redsync/redsync/v4@v4.18.1/mutex.go:110 +0x3d
example.com/shop/internal/orders.(*Lock).Acquire(...)
	/home/me/shop/internal/orders/lock.go:31 +0x25
github.com/lockstorm/lockstorm/locktest.LockerFunc.Lock(...)
	github.com/lockstorm/lockstorm@v0.0.0/locktest/lock.go:27
created by github.com/lockstorm/lockstorm/internal/servers/live.(*World).Run in goroutine 3
	github.com/lockstorm/lockstorm@v0.0.0/internal/servers/live/run.go:12 +0x8b`

// The line of the user's code is found on the stack of whoever started the goroutine, and is
// neither that of a library nor of this module.
func TestLineOfTheUser(t *testing.T) {
	for _, c := range []struct{ pkg, module, want string }{
		{"example.com/shop/internal/orders_test", "example.com/shop", "lock.go:31 (orders.(*Lock).Acquire)"},
		{"example.com/shop/internal/orders_test", "", "lock.go:31 (orders.(*Lock).Acquire)"},
		{"example.com/shop/test", "example.com/shop", "lock.go:31 (orders.(*Lock).Acquire)"},
		{"github.com/go-redsync/redsync/v4_test", "github.com/go-redsync/redsync/v4", "mutex.go:278 (v4.(*Mutex).actOnPoolsAsync)"},
	} {
		if got := locktest.UserLine(dumpOfBubble, 9, c.pkg, c.module); got != c.want {
			t.Errorf("tests in %s of module %q: %s, want %s", c.pkg, c.module, got, c.want)
		}
	}
}
