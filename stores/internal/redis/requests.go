package redis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// counter is the key from which revisions are drawn. Keys of entries begin with entryPrefix. They
// have the same hash tag, so that one script can use both in Redis Cluster.
const (
	counter     = "{lock}"
	entryPrefix = counter + ":"
)

// The scripts. An entry is a string: its revision, a space, and its value. Each script returns a list:
// 1 if the request was done and 0 if it was declined, followed by the keys of entries, each with its entry.
const (
	// createScript creates KEYS[1] with the value ARGV[1] and a TTL of ARGV[2] milliseconds; 0: none.
	createScript = `
local there = redis.call('GET', KEYS[1])
if there then return {0, KEYS[1], there} end
local entry = redis.call('INCR', KEYS[2]) .. ' ' .. ARGV[1]
if ARGV[2] == '0' then redis.call('SET', KEYS[1], entry) else redis.call('SET', KEYS[1], entry, 'NX', 'PX', ARGV[2]) end
return {1, KEYS[1], entry}`

	// findScript finds out if the entry KEYS[1] is ARGV[2]. Its value is compared if ARGV[1] is
	// "value", its revision alone if that is "revision", and nothing if it is "any".
	findScript = `
local there = redis.call('GET', KEYS[1])
local same = there and (ARGV[1] == 'any' or there == ARGV[2]
	or ARGV[1] == 'revision' and string.match(there, '^%d+') == string.match(ARGV[2], '^%d+'))`

	// sameScript declines unless it is.
	sameScript = findScript + `
if not same then return {0} end`

	// updateScript gives the same KEYS[1] the value ARGV[3] and a new revision.
	updateScript = findScript + `
if not there then return {0} end
if not same then return {0, KEYS[1], there} end
local entry = redis.call('INCR', KEYS[2]) .. ' ' .. ARGV[3]
redis.call('SET', KEYS[1], entry, 'KEEPTTL')
return {1, KEYS[1], entry}`

	// renewScript gives the same KEYS[1] a TTL of ARGV[3] milliseconds, unless it has a longer one, and
	// a new revision.
	renewScript = sameScript + `
local entry = redis.call('INCR', KEYS[2]) .. string.match(there, ' .*$')
redis.call('SET', KEYS[1], entry, 'PX', math.max(tonumber(ARGV[3]), redis.call('PTTL', KEYS[1])))
return {1, KEYS[1], entry}`

	// deleteScript deletes the same KEYS[1].
	deleteScript = sameScript + `
redis.call('DEL', KEYS[1])
return {1}`

	// listScript lists the entries whose keys begin with ARGV[1]. With ARGV[2] it draws a revision, so
	// that the WAIT which follows confirms that replicas still follow this master.
	listScript = `
if ARGV[2] == 'confirm' then redis.call('INCR', KEYS[1]) end
local reply = {1}
for _, key in ipairs(redis.call('KEYS', KEYS[1] .. ':*')) do
	local there = redis.call('GET', key)
	if there and string.sub(key, 1, #ARGV[1]) == ARGV[1] then
		table.insert(reply, key)
		table.insert(reply, there)
	end
end
return reply`
)

// command returns the command that carries out a request, or nil if nothing can.
func (c *client) command(r env.StoreRequest) []string {
	key := entryPrefix + r.Key
	switch {
	case r.Op == env.StoreCreate && r.Expires == (r.TTL > 0) && r.Session == 0 && !r.Sequential && r.Delay == 0:
		return []string{"EVAL", createScript, "2", key, counter, r.Value, millis(r.TTL)}
	case r.Op == env.StoreRenew:
		how, entry := c.expected(r)
		return []string{"EVAL", renewScript, "2", key, counter, how, entry, millis(r.TTL)}
	case r.Op == env.StoreUpdate:
		how, entry := c.expected(r)
		return []string{"EVAL", updateScript, "2", key, counter, how, entry, r.Value}
	case r.Op == env.StoreDelete:
		how, entry := c.expected(r)
		return []string{"EVAL", deleteScript, "1", key, how, entry}
	case r.Op == env.StoreList && !r.Serializable, r.Op == env.StoreAwait:
		confirm := ""
		if c.acknowledgements > 0 {
			confirm = "confirm"
		}
		return []string{"EVAL", listScript, "1", counter, key, confirm}
	}
	return nil
}

// name names an entry as a request does.
type name struct {
	key      string
	revision uint64
}

// expected returns how a script finds the entry of a request: by its revision and, if the client has
// created or seen the entry, by its value as well. A revision alone is not enough, because a
// failover can take the counter back: the next holder's entry can have the revision of the last one.
func (c *client) expected(r env.StoreRequest) (how, entry string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, known := c.values[name{r.Key, r.Revision}]
	switch {
	case r.Revision == 0 && r.Op == env.StoreDelete:
		how = "any"
	case known:
		how = "value"
	default:
		how = "revision"
	}
	return how, fmt.Sprintf("%d %s", r.Revision, value)
}

// remember notes the values of the entries in a reply for expected. An entry that is the client's own
// replaces one that had the same name: a failover has lost that. An entry of somebody else does not.
func (c *client) remember(r env.StoreRequest, reply env.StoreReply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range reply.Entries {
		if _, known := c.values[name{e.Key, e.Revision}]; !known || c.own[e.Value] {
			c.values[name{e.Key, e.Revision}] = e.Value
		}
	}
	switch {
	case (r.Op == env.StoreCreate || r.Op == env.StoreUpdate) && !reply.Done:
		delete(c.own, r.Value)
	case r.Op == env.StoreDelete && reply.Done:
		delete(c.own, c.values[name{r.Key, r.Revision}])
		fallthrough
	case (r.Op == env.StoreRenew || r.Op == env.StoreUpdate) && reply.Done:
		delete(c.values, name{r.Key, r.Revision})
	}
}

// millis returns a duration in whole milliseconds, rounded up.
func millis(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10)
}

func unsupported(name string, r env.StoreRequest) error {
	return fmt.Errorf("%s: %v of %+v: %w", name, r.Op, r, live.ErrStoreOp)
}

// parse reads what a script has returned.
func parse(reply any) (env.StoreReply, error) {
	list, _ := reply.([]any)
	if len(list)%2 == 0 {
		return env.StoreReply{}, fmt.Errorf("unexpected reply of a script: %v", reply)
	}
	parsed := env.StoreReply{Done: list[0] == int64(1)}
	for i := 1; i < len(list); i += 2 {
		key, _ := list[i].(string)
		text, _ := list[i+1].(string)
		number, value, _ := strings.Cut(text, " ")
		revision, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return env.StoreReply{}, fmt.Errorf("unexpected entry %q: %w", text, err)
		}
		parsed.Entries = append(parsed.Entries, env.Entry{Key: strings.TrimPrefix(key, entryPrefix), Value: value, Revision: revision})
	}
	slices.SortFunc(parsed.Entries, func(a, b env.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	return parsed, nil
}
