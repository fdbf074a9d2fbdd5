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
	Name        string
	Subjects    []string // in which it is seen; the first is measured
	Storm       string   // in which it is seen there, by name or file
	TTL         string   // with which it is seen every time
	Code        string   // of the property
	Text        string
	Source      string // what the library says, or does
	Contradicts string // a sentence of its documentation, or ""
	Remedy      string
	Upstream    []string // Markdown links
	Control     string   // a subject that does not show it there
}

// Subjects are all locks.
var Subjects = []Subject{
	{Name: "redis-py", Library: "redis-py", How: "redis.lock.Lock on 1 node, with a socket timeout of a quarter of the TTL", Nodes: 1, Command: func() []string { return []string{python(), "examples/python/client.py"} }, Version: pythonVersion},
	{Name: "redis-py-defaults", Library: "redis-py", How: "the same without socket timeouts, as redis-py has it by default", Nodes: 1, Command: func() []string { return []string{python(), "examples/python/client.py", "--wait-for-ever"} }, Version: pythonVersion},
	{Name: "redlock-npm", Library: "redlock (npm)", How: "on 5 nodes, over ioredis with a command timeout of a quarter of the TTL", Nodes: 5, Command: func() []string { return []string{"node", "examples/node/client.js"} }, Version: nodeVersion},
	{Name: "redlock-npm-outside", Library: "redlock (npm)", How: "the same with retryCount 0, and retries by the caller", Nodes: 5, Command: func() []string { return []string{"node", "examples/node/client.js", "--retry-outside"} }, Version: nodeVersion},
	npm("redlock-npm-using", "redlock-5", 5, "using, which renews the lock while a routine runs and aborts its signal at a loss; its defaults", "", "using"),
	npm("redlock-npm-4", "redlock", 5, "on 5 nodes, by the published version", ""),
	npm("redlock-sesamecare", "@sesamecare-oss/redlock", 5, "on 5 nodes; it derives from redlock", ""),
	npm("redlock-sesamecare-using", "@sesamecare-oss/redlock", 5, "using, as that of redlock", "", "using"),
	npm("redlock-universal", "redlock-universal", 5, "RedLock on 5 nodes", ""),
	npm("redlock-universal-using", "redlock-universal", 5, "using, which renews the lock at 0.8 of the TTL and aborts its signal at a loss", "", "using"),
	npm("redis-semaphore-redlock", "redis-semaphore", 5, "RedlockMutex on 5 nodes, which renews itself at 0.8 of the TTL and reports losses", ""),
	npm("redis-semaphore", "redis-semaphore", 1, "Mutex on 1 node, which does the same", ""),
	npm("redis-semaphore-permits", "redis-semaphore", 1, "Semaphore of 2 permits on 1 node, which does the same", "permits.yaml"),
	npm("redis-lock", "redis-lock", 1, "on 1 node, over node-redis, which waits for replies for ever", ""),
	npm("ioredis-lock", "@microfleet/ioredis-lock", 1, "Lock on 1 node with retries by the caller", ""),
}

var (
	pythonVersion = []string{"-c", "import redis; print('redis-py', redis.__version__)"}
	nodeVersion   = versionIn("examples/node", "redlock", "ioredis")
)

// npm is the lock of a package by npm/client.mjs, over ioredis with a command timeout of a quarter of the TTL.
func npm(name, lock string, nodes int, how, config string, args ...string) Subject {
	return Subject{
		Name: name, Library: lock + " (npm)", How: how, Nodes: nodes, Config: config,
		Command: func() []string { return append([]string{"node", "evidence/languages/npm/client.mjs", lock}, args...) },
		Version: versionIn("evidence/languages/npm", lock, clientOf(lock)),
	}
}

// clientOf is the package by which a lock reaches Redis.
func clientOf(lock string) string {
	if lock == "redis-lock" {
		return "redis"
	}
	return "ioredis"
}

// versionIn prints the versions of packages that npm has installed in a directory.
func versionIn(dir string, packages ...string) []string {
	return []string{"-p", fmt.Sprintf(`%q.split(" ").map((n) => JSON.parse(require("fs").readFileSync(%q + n + "/package.json"))).map((p) => p.name + " " + p.version).join(", ")`, strings.Join(packages, " "), dir+"/node_modules/")}
}

// Storms are those of the default that are run, with the same promises for all.
var Storms = []string{"calm", "contention", "majority-cut-off", "node-comes-back-late", "holder-stands-still", "writer-stands-still", "holder-cut-off", "replies-are-lost"}

// Findings are the violations whose cause is known.
var Findings = []Finding{
	{
		Name: "redlock-grants-what-has-expired", Subjects: []string{"redlock-npm"}, Storm: "contention", TTL: "1s", Code: "C",
		Text:     "A client that has waited for longer than the TTL is granted a lock whose validity is over. acquire takes the time once, before its first try, and adds the TTL to it when some later try has succeeded. It does not compare the result with the clock. The keys in Redis live on, so nobody else gets the lock either; but extend refuses such a lock as already expired, and a caller that heeds expiration can never use it. Where the caller retries, with retryCount 0, the time is taken anew for each try, and the violation is gone.",
		Source:   "`const start = Date.now()` stands before `_execute`, which retries, and `new Lock(…, start + duration - drift)` after it (dist/cjs/index.js, acquire, 5.0.0-beta.2). Version 4.2.0 takes the time for each attempt and grants only if `lock.expiration > Date.now()`.",
		Remedy:   "retryCount 0, and retries by the caller",
		Upstream: []string{"<https://github.com/mike-marcacci/node-redlock/issues/296>", "<https://github.com/mike-marcacci/node-redlock/issues/299>"},
		Control:  "redlock-npm-outside",
	},
	{
		Name: "redis-py-waits-for-ever", Subjects: []string{"redis-py-defaults"}, Storm: "majority-cut-off", TTL: usualTTL, Code: "C",
		Text:    "A client is cut off from the server. blocking_timeout limits how long acquire retries, and not how long it waits for a reply; without a socket timeout, the default, a call waits until the connection breaks or serves again. acquire then returns True for a request that was sent several TTLs before. What a caller knows is that the key lives for the TTL from when the request was sent, so it cannot rely on that grant. With socket timeouts the violation is gone.",
		Source:  "`socket_timeout=None` is the default of `redis.Redis`, and `Lock.acquire` looks at `blocking_timeout` only between two calls of `do_acquire` (redis/lock.py).",
		Remedy:  "`socket_timeout` and `socket_connect_timeout`, well below the TTL",
		Control: "redis-py",
	},
	{
		Name: "redlock-using-aborts-after-all-tries", Subjects: []string{"redlock-sesamecare-using", "redlock-npm-using"}, Storm: "holder-cut-off", TTL: usualTTL, Code: "V1",
		Text:        "A holder that is cut off is told of it seconds after its lock has expired, and works beside the next holder. The extension begins 500 ms before the end, and the signal is aborted when it has failed: that is after 11 tries, each of which waits for replies and then for 200 ms. Nothing aborts the signal when the validity is over.",
		Source:      "`extend` in `using` aborts in `catch`, after `context.lock.extend(duration)` (src/index.ts, lines 565 to 582, @sesamecare-oss/redlock 1.4.0), which ends when `_execute` has made `retryCount + 1` attempts (lines 322 to 344). redlock 5.0.0-beta.2 does the same (dist/cjs/index.js, lines 280 to 296 and 435 to 449).",
		Contradicts: "\"The abort signal will be true if: 1. the above took long enough that the lock needed to be extended, 2. redlock was unable to extend the lock\".",
		Remedy:      "`retryCount: 0` for `using`, a command timeout below the threshold, and a look at `context.lock.expiration` before each write",
		Upstream:    []string{"[report](../upstream/sesamecare-redlock.md)"},
		Control:     "redlock-npm-4",
	},
	{
		Name: "redlock-extension-outlasts-the-lock", Subjects: []string{"redlock-sesamecare", "redlock-npm-4", "redlock-npm"}, Storm: "holder-cut-off", TTL: usualTTL, Code: "C",
		Text:     "extend of a client that is cut off returns seconds after the lock has expired. It makes 11 tries, also when the validity is over and no try can succeed; a caller that waits for it learns too late that it holds nothing. A release is tried as often: where a majority does not answer, as in `majority-cut-off`, it returns after seconds, too.",
		Source:   "`extend` looks at `expiration` once, before its first attempt, and `_execute` at the number of attempts alone (src/index.ts, lines 277 to 289 and 322 to 344, @sesamecare-oss/redlock 1.4.0; redlock.js, lines 294 to 303 and 427, 4.2.0).",
		Remedy:   "`redlock.extend(lock, ttl, { retryCount: 0 })`, and retries by the caller",
		Upstream: []string{"[report](../upstream/sesamecare-redlock.md)", "<https://github.com/mike-marcacci/node-redlock/issues/313>"},
		Control:  "redlock-universal",
	},
	{
		Name: "redlock-universal-counts-from-the-last-reply", Subjects: []string{"redlock-universal"}, Storm: "evidence/languages/one-node-cut-off.yaml", TTL: usualTTL, Code: "B",
		Text:        "One of five nodes does not answer, and the holder relies on the lock for longer than a quorum keeps its keys: by as long as it waits for that node, here half a second. The handle has the time at which all nodes had answered or timed out, and the whole TTL; the keys live for the TTL from when the requests were sent. In `calm` it is a few milliseconds. A caller that works up to the end may still write when another client has been granted the lock.",
		Source:      "`acquiredAt: Date.now()` follows `await this.attemptLockAcquisition(…)`, which waits for all nodes by `Promise.allSettled` (dist/index.js, lines 1132 to 1140 and 1174, 0.8.5). The check of the time that stands there, with its allowance for clocks, decides on the grant alone; the library itself counts the rest of a hold as `acquiredAt + ttl` (line 483).",
		Contradicts: "\"Redlock: Provides Consensus. Locks are safe even if nodes crash.\"",
		Remedy:      "take the time before `acquire` with `retryAttempts: 0`, and rely on it plus TTL, less 1 %",
		Upstream:    []string{"[report](../upstream/redlock-universal.md)"},
		Control:     "redlock-npm-4",
	},
	{
		Name: "redlock-universal-using-aborts-late", Subjects: []string{"redlock-universal-using"}, Storm: "holder-cut-off", TTL: usualTTL, Code: "V1",
		Text:        "A holder that is cut off is told of it after its lock has expired. The extension begins when 20 % of the TTL is left, and the signal is aborted when it has failed: if a command may take longer than those 20 %, as here and with the default of 5 s for each TTL below 25 s, the lock is gone by then. Nothing aborts the signal when the validity is over.",
		Source:      "`attemptExtension` aborts when all its requests have ended (dist/index.js, lines 536 to 560, 0.8.5); `REDIS_TIMEOUT: 5e3` and `AUTO_EXTENSION_THRESHOLD_RATIO: 0.2` are the defaults.",
		Contradicts: "\"Handle `signal.aborted` - gracefully exit when lock is lost during long operations\".",
		Remedy:      "a timeout of the adapter well below 20 % of the TTL",
		Upstream:    []string{"[report](../upstream/redlock-universal.md)"},
		Control:     "redlock-npm-4",
	},
	{
		Name: "redis-semaphore-tells-late", Subjects: []string{"redis-semaphore-redlock"}, Storm: "holder-cut-off", TTL: usualTTL, Code: "V1",
		Text:        "A holder that is cut off is told of it after its lock has expired, and two clients hold it. The renewal begins at 0.8 of the TTL; `isAcquired` turns false, and `onLockLost` is called, when a majority has not renewed it and the requests that delete the keys have ended, too. Nothing looks at the clock.",
		Source:      "`_processRefresh` awaits `_refresh` (lib/Lock.js, lines 58 to 71, 5.8.0), and refreshRedlockMutex awaits a second round of requests before it returns false (lib/redlockMutex/refresh.js, lines 42 to 44).",
		Contradicts: "The example runs its critical section while `mutex.isAcquired`.",
		Remedy:      "a command timeout below a tenth of the TTL, and `refreshInterval` at half of it",
		Upstream:    []string{"[report](../upstream/redis-semaphore.md)"},
		Control:     "redlock-npm-4",
	},
	{
		Name: "redis-semaphore-does-not-tell", Subjects: []string{"redis-semaphore", "redis-semaphore-permits"}, Storm: "holder-cut-off", TTL: usualTTL, Code: "V1",
		Text:        "A holder that is cut off is not told at all: while the server does not answer, `isAcquired` stays true and `onLockLost` is not called, and another client is granted the lock. The renewal fails by a rejection that nothing handles, so Node ends the process by default. Here the client survives it, and is told when the server answers again.",
		Source:      "`_processRefresh` has `try … finally` without `catch`, and is called by `setInterval` (lib/Lock.js, lines 58 to 74 and 113, 5.8.0); refreshMutex lets the error of the request through (lib/mutex/refresh.js, line 27).",
		Contradicts: "\"`onLockLost` - function, called when lock loss is detected due refresh cycle\".",
		Remedy:      "a timer of the caller that ends the work when the last renewal is a TTL old",
		Upstream:    []string{"[report](../upstream/redis-semaphore.md)"},
		Control:     "ioredis-lock",
	},
	{
		Name: "redis-lock-deletes-the-next-key", Subjects: []string{"redis-lock"}, Storm: "evidence/languages/release-arrives-late.yaml", TTL: usualTTL, Code: "V1",
		Text:        "A holder releases its lock in time, and its DEL reaches the server after the key has expired: it deletes the key of the next holder, and a third client is granted the lock. The release compares the end of the lock with the client's clock, and not the key with its value.",
		Source:      "`if (lockTimeoutValue > Date.now()) return client.del(lockName)` (index.js, lines 42 and 43, 1.0.0).",
		Contradicts: "\"It's not possible for two functions to acquire the same lock at any point in time, except if the timeout is breached.\"",
		Remedy:      "a release by the script of redis.io, which compares the value",
		Upstream:    []string{"[report](../upstream/redis-lock.md)"},
		Control:     "ioredis-lock",
	},
}
