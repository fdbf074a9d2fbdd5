-- Increments the counter KEYS[1], 0 if there is none, and answers what it is then. It
-- has ARGV[1] milliseconds to live.
local now = redis.call("INCR", KEYS[1])
redis.call("PEXPIRE", KEYS[1], ARGV[1])
return now
