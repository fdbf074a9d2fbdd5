package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/program"
)

// fakeProgram is the first argument of a process of this test binary that is a program with a lock.
// The second one says how it behaves.
const fakeProgram = "fake-program"

// fakeCommand returns the command line of such a program.
func fakeCommand(behaviour string) []string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []string{exe, fakeProgram, behaviour}
}

// beFakeClient is the program, if this process was started as one. It does not return then.
func beFakeClient() {
	if len(os.Args) != 3 || os.Args[1] != fakeProgram {
		return
	}
	f := &fakeClient{behaviour: os.Args[2], tokens: map[int64]string{}}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m program.ToProgram
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			panic(err)
		}
		f.handle(m)
	}
	os.Exit(0)
}

// The scripts of a semaphore with a key for each permit. They get the token, how many permits to take, their number,
// and the TTL.
const (
	takePermits = `
		local free = {}
		for i = 1, tonumber(ARGV[3]) do if redis.call("exists", KEYS[1] .. i) == 0 then free[#free + 1] = i end end
		if #free < tonumber(ARGV[2]) then return 0 end
		for i = 1, tonumber(ARGV[2]) do redis.call("set", KEYS[1] .. free[i], ARGV[1], "px", ARGV[4]) end
		return 1`
	givePermits = `
		local given = 0
		for i = 1, tonumber(ARGV[3]) do if redis.call("get", KEYS[1] .. i) == ARGV[1] then given = given + redis.call("del", KEYS[1] .. i) end end
		return given`
)

// fakeClient is a lock on one key of one node, or a semaphore.
type fakeClient struct {
	behaviour string
	client    *redis.Client
	number    int
	capacity  int
	ttl       time.Duration
	tokens    map[int64]string // by hold
}

func fakeNow() float64 { return float64(env.System().Now(env.Monotonic)) / 1e6 }

func (f *fakeClient) say(m program.FromProgram) {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func (f *fakeClient) handle(m program.ToProgram) {
	switch m.Type {
	case program.Hello:
		f.hello(m)
	case program.Acquire:
		f.acquire(m)
	case program.Extend:
		until := fakeNow() + float64(f.ttl.Milliseconds())
		if n, _ := f.client.Eval(context.Background(), `return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("pexpire", KEYS[1], ARGV[2]) or 0`, []string{"r"}, f.tokens[m.ID], f.ttl.Milliseconds()).Int(); n != 1 {
			f.say(program.FromProgram{Type: program.Failed, ID: m.ID})
			return
		}
		f.say(program.FromProgram{Type: program.Extended, ID: m.ID, UntilMS: &until})
	case program.Release:
		f.release(m)
	case program.Quit:
		if f.behaviour != "stays" {
			os.Exit(0)
		}
	}
}

func (f *fakeClient) hello(m program.ToProgram) {
	f.number, f.capacity, f.ttl = m.Client, m.Capacity, time.Duration(m.TTLMS*1e6)
	addr := m.Addresses[0]
	f.client = redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true,
		DialTimeout: f.ttl / 4, ReadTimeout: f.ttl / 4, WriteTimeout: f.ttl / 4,
	})
	now := fakeNow()
	ready := program.FromProgram{Type: program.Ready, Version: program.Version, NowMS: &now, TellsLost: f.behaviour == "tells", Extends: f.behaviour == "extends"}
	switch f.behaviour {
	case "deaf":
		return
	case "wall-clock":
		wall := float64(time.Now().UnixMilli())
		ready.NowMS = &wall
	case "dies":
		fmt.Fprintln(os.Stderr, "no module named redis")
		os.Exit(1)
	case "version-2":
		ready.Version = 2
	case "pid":
		fmt.Fprintf(os.Stderr, "pid %d\n", os.Getpid())
	case "stays":
		fmt.Fprintf(os.Stderr, "pid %d\n", os.Getpid())
	case "beats":
		go func() {
			for {
				fmt.Fprintf(os.Stderr, "%.0f\n", fakeNow())
				time.Sleep(f.ttl / 20)
			}
		}()
	}
	f.say(ready)
}

func (f *fakeClient) acquire(m program.ToProgram) {
	switch f.behaviour {
	case "garbage":
		fmt.Println("connected to redis")
	case "exits":
		fmt.Fprintln(os.Stderr, "a stack trace")
		os.Exit(7)
	case "other-id":
		f.say(program.FromProgram{Type: program.Granted, ID: m.ID + 1})
		return
	case "seconds":
		until := fakeNow() / 1000
		f.say(program.FromProgram{Type: program.Granted, ID: m.ID, UntilMS: &until})
		return
	case "long-line":
		fmt.Println(`{"type": "refused", "id": 1, "error": "` + strings.Repeat("a", program.MaxLine) + `"}`)
		return
	case "hangs":
		return
	case "refuses":
		_ = f.client.Ping(context.Background())
		f.say(program.FromProgram{Type: program.Refused, ID: m.ID, Error: "not today"})
		return
	case "idle":
		f.say(program.FromProgram{Type: program.Refused, ID: m.ID})
		return
	}
	token := fmt.Sprintf("%d.%d", f.number, m.ID)
	if f.behaviour == "one-value" {
		token = "locked"
	}
	for end := time.Now().Add(time.Duration(m.TimeoutMS * 1e6)); time.Now().Before(end); time.Sleep(f.ttl / 20) {
		until := fakeNow() + float64(f.ttl.Milliseconds())
		set, err := f.set(token, m.Weight)
		if err != nil || !set {
			continue
		}
		if f.behaviour == "counts-late" { // from after the reply, and not before the request
			time.Sleep(f.ttl / 20)
			until = fakeNow() + float64(f.ttl.Milliseconds())
		}
		f.tokens[m.ID] = token
		f.say(program.FromProgram{Type: program.Granted, ID: m.ID, UntilMS: &until, Weight: m.Weight})
		if f.behaviour == "tells" {
			time.AfterFunc(f.ttl*3/4, func() { f.say(program.FromProgram{Type: program.Lost, ID: m.ID}) })
		}
		return
	}
	f.say(program.FromProgram{Type: program.Refused, ID: m.ID, Error: "taken"})
}

// permits returns how many there are: for a lock with the defect one too many.
func (f *fakeClient) permits() int {
	if f.behaviour == "one-too-many" {
		return f.capacity + 1
	}
	return f.capacity
}

func (f *fakeClient) set(token string, weight int) (bool, error) {
	if f.capacity == 0 {
		return f.client.SetNX(context.Background(), "r", token, f.ttl).Result()
	}
	return f.client.Eval(context.Background(), takePermits, []string{"r"}, token, weight, f.permits(), f.ttl.Milliseconds()).Bool()
}

func (f *fakeClient) release(m program.ToProgram) {
	script := `return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("del", KEYS[1]) or 0`
	if f.behaviour == "careless" {
		script = `return redis.call("del", KEYS[1])`
	}
	if f.behaviour == "keeps" {
		script = `return redis.call("get", KEYS[1]) == ARGV[1] and 1 or 0`
	}
	if f.capacity > 0 {
		script = givePermits
	}
	n, err := f.client.Eval(context.Background(), script, []string{"r"}, f.tokens[m.ID], 0, f.permits()).Int()
	switch {
	case err != nil:
		f.say(program.FromProgram{Type: program.Failed, ID: m.ID, Error: err.Error()})
	case n == 0:
		f.say(program.FromProgram{Type: program.NotHeld, ID: m.ID})
	default:
		f.say(program.FromProgram{Type: program.Released, ID: m.ID})
	}
}
