-- Raises the counter KEYS[1] to ARGV[1] if it is lower. Answers whether it was,
-- and what the counter is now. A late or repeated request never lowers it. With
-- ARGV[2] the counter then has so many milliseconds to live.
local now = redis.call("GET", KEYS[1]) or "0"
if tonumber(now) >= tonumber(ARGV[1]) then
	return {0, now}
end
if ARGV[2] then
	redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
else
	redis.call("SET", KEYS[1], ARGV[1])
end
return {1, ARGV[1]}
