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
// These are of version 2.9.10, which Debian has. "By the source" marks what was read there and
// not seen.
//
//   - The stream's leader compares the revision of an update with what it has applied, before it
//     proposes the write, and no replica compares it again (nats-server issue 4320). Two updates at
//     one revision, within the time that replication takes, both succeed. So with markers two
//     clients can create one key, without any fault. Without markers, by the source, a renewal that
//     meets the end of the key's life can overwrite a key that somebody has just created.
//   - Keys of one bucket have one time to live, at least 100 ms. The first create decides on it, and
//     creates with another are not supported.
//   - By the source, the age of a message is the difference between the wall clock of the replica that
//     looks and that of the member that led when it was written, and each replica deletes old
//     messages by itself. So a new leader does not count anew, and a step of its wall clock ends or
//     prolongs lives. The simulated store counts on monotonic clocks, and anew. Clocks of members
//     cannot be set here: NATS is a Go program, whose clocks libfaketime does not reach.
//   - Each replica looks up by itself whether a key exists when it applies a create. A member that was
//     down while a key was written, expired and was created again was seen to keep the old key and
//     leave out the new one, for 3 and 9 seconds, until the end of the observation. In the second
//     case it was made the leader then, and the next holder got the revision of the last one.
//   - A request to delete a message with a number that the stream has not reached resets the stream
//     on every replica, and is not answered. So the client reads the entry before it deletes it.
//   - By the source, written messages are synced to the disk every two minutes, which no setting
//     changes. Members that all lose power lose acknowledged writes, and a stream that is younger than
//     that: then a client creates the bucket again. A member that loses power alone gets the writes from the
//     others. A killed process was not seen to lose any.
//   - By the source, elections begin 4 to 9 seconds after the loss of a leader. The setting's
//     election is ignored.
//   - After members were stopped and continued, the others sometimes vote for ever, although they are a
//     majority: "has NO quorum, stalled" (nats-server issue 3943). In 4 of about 48 runs of
//     TestMemberAway/stopped, side by side, nobody led for two minutes.
//
// # Links between members
//
// There is one proxy in front of each member's port for routes, which the member advertises to the
// others. It looks up which member has made a connection: the one whose process has the socket at the
// other end. A route carries messages both ways, so one of the two members makes it.
//
// A leader that is cut off does not reply to writes. Messages that members have sent over a cut link
// arrive when it is restored: a write of a client that was connected to a member without a majority can
// take effect then.
//
// Reads are answered by the stream's leader: direct gets, which followers answer from what they
// have applied, are switched off in the bucket. By the source, a leader that was stopped and has
// been replaced answers from what it has until it learns so: a read may be stale then.
package nats
