// Package nats runs the members of a NATS cluster with JetStream as processes of this machine,
// and connects clients to a key-value bucket that all of them replicate.
//
//	fleet, err := Open(ctx, setting, seed)
//	...
//	world, err := live.Open(setting, seed, sink, fleet, Handlers)
//
// A bucket is a stream: a key is a subject, and the latest message of the subject is its value. The
// revision of an entry is the sequence number of its message in the stream, so it grows over all
// keys. Entries expire: a message is deleted when it is older than the maximum age of the
// stream. A renewal writes the entry again, as a message with an age of its own. Sessions,
// sequential keys, rows that are swept, lock-delays, and waits do not exist here.
//
// There are two products, because keys can be deleted in two ways:
//
//   - [Store], "nats", deletes the message. A create is then always a write to a subject without
//     messages, which every replica checks when it applies the write.
//   - [Markers], "nats-markers", writes a marker, as the key-value API of NATS does. A create after
//     a deletion is then an update at the marker's revision.
//
// # Limits of nats-server 2.9
//
// What follows is of version 2.9.10, which Debian has.
//
//   - The stream's leader checks the revision of an update before it proposes the write, against what
//     it has applied, and no replica checks it again (nats-server issue 4320). Two updates at the same
//     revision, within the time that replication takes, both succeed. So with markers
//     two clients can create one key, without any fault. Without markers that time matters only
//     when a renewal meets the end of the key's life: the key that somebody has created meanwhile would be overwritten.
//   - Keys of one bucket have one time to live. The first create decides on it, and others are
//     not supported. It is at least 100 ms.
//   - The age of a message is the difference between the wall clock of the replica that looks and that
//     of the member that led when it was written. Each replica deletes old messages by itself: a
//     new leader does not count anew, and a step of its wall clock ends or prolongs lives. The
//     simulated store counts on monotonic clocks, and anew. Clocks of members cannot be set here: NATS is a Go
//     program, whose clocks libfaketime does not reach.
//   - A create that is applied when the key expires may find it on one replica, and not on another,
//     because their timers differ. Then they disagree until the stream is reset.
//   - A request to delete a message with a number that the stream has not reached resets the stream on
//     every replica, and is not answered. So the client reads the entry before it deletes it.
//   - Written messages are synced to the disk every two minutes, so a machine that loses power
//     loses writes that were acknowledged. The version has no setting for that (sync_interval came
//     with 2.10). A process that is killed loses nothing.
//   - Elections take 4 to 9 seconds from the loss of a leader. The times are constants: the
//     setting's election is ignored.
//
// Reads are answered by the stream's leader: direct gets, which followers answer from what they
// have applied, are switched off in the bucket. A leader that was stopped and has been replaced
// answers from what it has until it learns so: a read may be stale then.
package nats
