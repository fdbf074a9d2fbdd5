// Package keywatch records the changes of a Redis server's keys. It connects to the server as a
// replica does, so that it receives every effective change once, in the order in which the server
// made them, with the value and the expiry of each key: neither the commands that changed nothing,
// nor who sent a command, nor when.
//
//	w := New(log)
//	err := w.Follow(ctx, addr, "", func() {})
//
// The watch changes nothing that a lock can notice. It acknowledges offset 0 only, so WAIT never counts
// it. (A server with min-replicas-to-write would count it; no server of a run has that.) A clean shutdown
// waits for a replica that is behind, so the watch has to end before. It asks for a copy without keys (Redis 7 and later), which the server sends from
// a child process without writing a file.
//
// The stream does not say why a key is gone. The server counts keys that expired and keys that it
// evicted, so a look at these counters decides it for what was deleted since the last look, unless
// deletions of several causes fall between two looks: then no reason is given.
//
// Of a lock of this program the value of a key is the token of a try. Another lock chooses the values
// itself: [Requests] finds whose they are in what its clients send.
package keywatch
