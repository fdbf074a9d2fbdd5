-- Increments the counter KEYS[1], 0 if there is none, and answers what it is then. If it
-- has no end yet it has ARGV[1] milliseconds to live.
local now = redis.call("INCR", KEYS[1])
if redis.call("PTTL", KEYS[1]) < 0 then
	redis.call("PEXPIRE", KEYS[1], ARGV[1])
end
return now
