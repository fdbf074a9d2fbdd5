-- Raises the counter KEYS[1] to ARGV[1] if it is lower. Answers whether it was,
-- and what the counter is now. A late or repeated request never lowers it.
local now = redis.call("GET", KEYS[1]) or "0"
if tonumber(now) >= tonumber(ARGV[1]) then
	return {0, now}
end
redis.call("SET", KEYS[1], ARGV[1])
return {1, ARGV[1]}
