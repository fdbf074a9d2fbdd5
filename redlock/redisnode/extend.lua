-- Raises the remaining life of KEYS[1] to ARGV[2] milliseconds if it holds the
-- token ARGV[1]. Answers 1 if the key now lives at least that long, 0 if it is
-- not ours. A late or repeated request never shortens a life, and a key that is
-- gone stays gone.
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
	return 0
end
local left = redis.call("PTTL", KEYS[1]) -- -1: for ever
if left >= 0 and left < tonumber(ARGV[2]) then
	redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 1
