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
	// createScript creates KEYS[1] with the value ARGV[1] and a TTL of ARGV[2] milliseconds.
	createScript = `
local there = redis.call('GET', KEYS[1])
if there then return {0, KEYS[1], there} end
local entry = redis.call('INCR', KEYS[2]) .. ' ' .. ARGV[1]
redis.call('SET', KEYS[1], entry, 'NX', 'PX', ARGV[2])
return {1, KEYS[1], entry}`

	// renewScript gives KEYS[1] a TTL of ARGV[2] milliseconds, unless it has a longer one, and a new
	// revision, if its revision is ARGV[1].
	renewScript = `
local there = redis.call('GET', KEYS[1])
if not there or string.match(there, '^%d+') ~= ARGV[1] then return {0} end
local entry = redis.call('INCR', KEYS[2]) .. string.match(there, ' .*$')
redis.call('SET', KEYS[1], entry, 'PX', math.max(tonumber(ARGV[2]), redis.call('PTTL', KEYS[1])))
return {1, KEYS[1], entry}`

	// deleteScript deletes KEYS[1] if its revision is ARGV[1]; 0: whatever its revision.
	deleteScript = `
local there = redis.call('GET', KEYS[1])
if not there or ARGV[1] ~= '0' and string.match(there, '^%d+') ~= ARGV[1] then return {0} end
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
	case r.Op == env.StoreCreate && r.Expires && r.TTL > 0 && r.Session == 0 && !r.Sequential && r.Delay == 0:
		return []string{"EVAL", createScript, "2", key, counter, r.Value, millis(r.TTL)}
	case r.Op == env.StoreRenew:
		return []string{"EVAL", renewScript, "2", key, counter, fmt.Sprint(r.Revision), millis(r.TTL)}
	case r.Op == env.StoreDelete:
		return []string{"EVAL", deleteScript, "1", key, fmt.Sprint(r.Revision)}
	case r.Op == env.StoreList, r.Op == env.StoreAwait:
		confirm := ""
		if c.acknowledgements > 0 {
			confirm = "confirm"
		}
		return []string{"EVAL", listScript, "1", counter, key, confirm}
	}
	return nil
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
