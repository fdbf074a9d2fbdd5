// Package doctor reads what a deployment of Redis servers is, and says which assumptions of
// Redlock it breaks.
//
//	report, err := Examine(ctx, []string{"rediss://user:secret@r1:6379", "r2:6379"}, Options{})
//
// It sends HELLO, INFO, CONFIG GET, TIME, PING, PUBSUB NUMSUB, COMMAND INFO and ACL DRYRUN, none
// of which changes anything, and nothing else unless [Options.Write] says so. What a server does
// not let its user read is reported as unread, never as fine.
package doctor
