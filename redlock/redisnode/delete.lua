-- Deletes KEYS[1] if it holds the token ARGV[1]. Answers 1 if it did.
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0
