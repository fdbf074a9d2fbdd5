package languages

import (
	"fmt"
	"strings"
)

// Subject is a lock that is tried.
type Subject struct {
	Name    string
	Library string
	How     string // it is used
	Nodes   int
	Config  string          // a file beside config.yaml in its place
	Command func() []string // that runs its program, from the root of the repository
	Version []string        // prints the version of the library
}

// Finding is a violation, with its cause in the library.
type Finding struct {
	Name     string
	Subjects []string // in which it is seen
	Storms   []string // in which it is seen there
	TTL      string   // with which it is seen every time
	Code     string   // of the property
	Text     string
	Source   string // what the library says, or does
	Upstream []string
	Control  string // a subject that does not show it there
}

// Subjects are all locks.
var Subjects = []Subject{
	{Name: "redis-py", Library: "redis-py", How: "redis.lock.Lock on 1 node, with a socket timeout of a quarter of the TTL", Nodes: 1, Command: func() []string { return []string{python(), "examples/python/client.py"} }, Version: pythonVersion},
	{Name: "redis-py-defaults", Library: "redis-py", How: "the same without socket timeouts, as redis-py has it by default", Nodes: 1, Command: func() []string { return []string{python(), "examples/python/client.py", "--wait-for-ever"} }, Version: pythonVersion},
	{Name: "redlock-npm", Library: "redlock (npm)", How: "on 5 nodes, over ioredis with a command timeout of a quarter of the TTL", Nodes: 5, Command: func() []string { return []string{"node", "examples/node/client.js"} }, Version: nodeVersion},
	{Name: "redlock-npm-outside", Library: "redlock (npm)", How: "the same with retryCount 0, and retries by the caller", Nodes: 5, Command: func() []string { return []string{"node", "examples/node/client.js", "--retry-outside"} }, Version: nodeVersion},
	npm("redlock-npm-4", "redlock", 5, "on 5 nodes, by the published version", ""),
	npm("redlock-sesamecare", "@sesamecare-oss/redlock", 5, "on 5 nodes; it derives from redlock", ""),
	npm("redlock-universal", "redlock-universal", 5, "RedLock on 5 nodes", ""),
	npm("redis-semaphore-redlock", "redis-semaphore", 5, "RedlockMutex on 5 nodes, which renews itself at 0.8 of the TTL and reports losses", ""),
	npm("redis-semaphore", "redis-semaphore", 1, "Mutex on 1 node, which does the same", ""),
	npm("redis-semaphore-permits", "redis-semaphore", 1, "Semaphore of 2 permits on 1 node, which does the same", "permits.yaml"),
	npm("ioredis-lock", "@microfleet/ioredis-lock", 1, "Lock on 1 node with retries by the caller", ""),
}

var (
	pythonVersion = []string{"-c", "import redis; print('redis-py', redis.__version__)"}
	nodeVersion   = versionIn("examples/node", "redlock", "ioredis")
)

// npm is the lock of a package by npm/client.mjs, over ioredis with a command timeout of a quarter of the TTL.
func npm(name, lock string, nodes int, how, config string) Subject {
	return Subject{
		Name: name, Library: lock + " (npm)", How: how, Nodes: nodes, Config: config,
		Command: func() []string { return []string{"node", "evidence/languages/npm/client.mjs", lock} },
		Version: versionIn("evidence/languages/npm", lock, "ioredis"),
	}
}

// versionIn prints the versions of packages that npm has installed in a directory.
func versionIn(dir string, packages ...string) []string {
	return []string{"-p", fmt.Sprintf(`%q.split(" ").map((n) => n + " " + JSON.parse(require("fs").readFileSync(%q + n + "/package.json")).version).join(", ")`, strings.Join(packages, " "), dir+"/node_modules/")}
}

// Storms are those of the default that are run, with the same promises for all.
var Storms = []string{"calm", "contention", "majority-cut-off", "node-comes-back-late", "holder-stands-still", "writer-stands-still", "call-is-cancelled", "replies-are-lost"}

// Findings are the violations whose cause is known.
var Findings = []Finding{
	{
		Name: "redlock-grants-what-has-expired", Subjects: []string{"redlock-npm"}, Storms: []string{"contention"}, TTL: "1s", Code: "C",
		Text:     "A client that has waited for longer than the TTL is granted a lock whose validity is over. acquire takes the time once, before its first try, and adds the TTL to it when some later try has succeeded. It does not compare the result with the clock. The keys in Redis live on, so nobody else gets the lock either; but extend refuses such a lock as already expired, and a caller that heeds expiration can never use it. Where the caller retries, with retryCount 0, the time is taken anew for each try, and the violation is gone.",
		Source:   "`const start = Date.now()` stands before `_execute`, which retries, and `new Lock(…, start + duration - drift)` after it (dist/cjs/index.js, acquire, 5.0.0-beta.2). Version 4.2.0 takes the time for each attempt and grants only if `lock.expiration > Date.now()`.",
		Upstream: []string{"https://github.com/mike-marcacci/node-redlock/issues/296", "https://github.com/mike-marcacci/node-redlock/issues/299"},
		Control:  "redlock-npm-outside",
	},
	{
		Name: "redis-py-waits-for-ever", Subjects: []string{"redis-py-defaults"}, Storms: []string{"majority-cut-off"}, TTL: usualTTL, Code: "C",
		Text:    "A client is cut off from the server. blocking_timeout limits how long acquire retries, and not how long it waits for a reply; without a socket timeout, the default, a call waits until the connection breaks or serves again. acquire then returns True for a request that was sent several TTLs before. What a caller knows is that the key lives for the TTL from when the request was sent, so it cannot rely on that grant. With socket timeouts the violation is gone.",
		Source:  "`socket_timeout=None` is the default of `redis.Redis`, and `Lock.acquire` looks at `blocking_timeout` only between two calls of `do_acquire` (redis/lock.py).",
		Control: "redis-py",
	},
	{
		Name: "redlock-universal-counts-from-the-quorum", Subjects: []string{"redlock-universal"}, Storms: []string{"calm"}, TTL: usualTTL, Code: "B",
		Text:    "Nothing fails, and nearly every holder relies on the lock for longer than a quorum keeps its keys. The handle of a grant has the time at which the quorum had answered, and the TTL; the keys live for the TTL from when the requests were sent. No allowance for clocks is subtracted. A caller that works up to the end of the TTL may still write when another client has been granted the lock.",
		Source:  "`acquiredAt: Date.now()` stands behind `await this.attemptLockAcquisition(…)` (dist/index.js, RedLock.acquire, 0.8.5), and the library counts the rest of a hold as `handle.acquiredAt + handle.ttl`.",
		Control: "redlock-npm",
	},
}
