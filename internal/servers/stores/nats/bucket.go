package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/env"
)

// The bucket, its stream, and what the subjects of its keys begin with.
const (
	bucketName    = "locks"
	streamName    = "KV_" + bucketName
	subjectPrefix = "$KV." + bucketName + "."
)

// bucket is what a client knows of the bucket.
type bucket struct{ ttl time.Duration } // 0: keys live for ever

type operation = func(context.Context, *conn, env.StoreRequest) (env.StoreReply, error)

// operation returns what carries out a request, or nil if nothing can.
func (c *client) operation(r env.StoreRequest) operation {
	switch {
	case r.Op == env.StoreCreate && r.Expires == (r.TTL > 0) && r.Session == 0 && !r.Sequential && r.Delay == 0:
		return c.create
	case r.Op == env.StoreRenew:
		return c.renew
	case r.Op == env.StoreDelete:
		return c.delete
	case r.Op == env.StoreList:
		return c.list
	case r.Op == env.StoreUpdate:
		return c.update
	}
	return nil
}

// open makes sure that there is a bucket with that TTL. The first client creates it.
func (c *client) open(ctx context.Context, m *conn, r env.StoreRequest) error {
	c.mu.Lock()
	known := c.bucket
	c.mu.Unlock()
	if known == nil {
		made, err := m.js.CreateStream(ctx, bucketConfig(bucketName, c.members, r.TTL, c.markers))
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			made, err = m.js.Stream(ctx, streamName)
		}
		if err != nil {
			return notDone(err)
		}
		known = &bucket{made.CachedInfo().Config.MaxAge}
		c.mu.Lock()
		c.bucket = known
		c.mu.Unlock()
	}
	if r.Op == env.StoreCreate && r.TTL != known.ttl || r.TTL > known.ttl {
		return fmt.Errorf("%w: the keys of the bucket live for %v", unsupported(r), known.ttl)
	}
	return nil
}

func (c *client) create(ctx context.Context, m *conn, r env.StoreRequest) (env.StoreReply, error) {
	if err := c.open(ctx, m, r); err != nil {
		return env.StoreReply{}, err
	}
	done, err := m.put(ctx, r.Key, r.Value, 0)
	if err != nil || done.Done {
		return done, err
	}
	there, err := m.last(ctx, r.Key)
	if err == nil && c.markers && there.marker {
		// As the client's Create does: a marker is replaced at its revision.
		return m.put(ctx, r.Key, r.Value, there.Revision)
	}
	if err != nil || there.Revision == 0 {
		return env.StoreReply{}, err
	}
	return env.StoreReply{Entries: []env.Entry{there.Entry}}, nil
}

// renew writes the entry again, which begins its life anew.
func (c *client) renew(ctx context.Context, m *conn, r env.StoreRequest) (env.StoreReply, error) {
	if err := c.open(ctx, m, r); err != nil {
		return env.StoreReply{}, err
	}
	there, err := m.last(ctx, r.Key)
	if err != nil || there.marker || there.Revision != r.Revision || r.Revision == 0 {
		return env.StoreReply{}, err
	}
	return m.put(ctx, r.Key, there.Value, r.Revision)
}

// update writes the entry with another value. That begins its life anew, if the bucket has a TTL.
func (c *client) update(ctx context.Context, m *conn, r env.StoreRequest) (env.StoreReply, error) {
	there, err := m.last(ctx, r.Key)
	switch {
	case err != nil || there.marker || there.Revision == 0:
		return env.StoreReply{}, err
	case there.Revision != r.Revision:
		return env.StoreReply{Entries: []env.Entry{there.Entry}}, nil
	}
	done, err := m.put(ctx, r.Key, r.Value, r.Revision)
	if err != nil || done.Done {
		return done, err
	}
	if there, err = m.last(ctx, r.Key); err != nil || there.marker || there.Revision == 0 {
		return env.StoreReply{}, err
	}
	return env.StoreReply{Entries: []env.Entry{there.Entry}}, nil
}

func (c *client) delete(ctx context.Context, m *conn, r env.StoreRequest) (env.StoreReply, error) {
	for {
		// The entry is read first also where the revision is known: a stream of nats-server 2.9
		// resets itself when it is asked to delete a message that it has not had yet.
		there, err := m.last(ctx, r.Key)
		if err != nil || there.marker || there.Revision == 0 || r.Revision != 0 && there.Revision != r.Revision {
			return env.StoreReply{}, err
		}
		var done env.StoreReply
		if c.markers {
			done, err = m.mark(ctx, r.Key, there.Revision)
		} else {
			done, err = m.remove(ctx, there.Revision)
		}
		if err != nil || done.Done || r.Revision != 0 {
			return env.StoreReply{Done: done.Done}, err
		}
	}
}

// list reads the keys and then the entries: no snapshot of several.
func (c *client) list(ctx context.Context, m *conn, r env.StoreRequest) (env.StoreReply, error) {
	reply := env.StoreReply{Done: true}
	stream, err := m.js.Stream(ctx, streamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return reply, nil
	} else if err != nil {
		return env.StoreReply{}, unlessRefused(err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subjectPrefix+">"))
	if err != nil {
		return env.StoreReply{}, unlessRefused(err)
	}
	for subject := range info.State.Subjects {
		key := keyOf(subject)
		if !strings.HasPrefix(key, r.Key) {
			continue
		}
		e, err := m.last(ctx, key)
		if err != nil {
			return env.StoreReply{}, err
		}
		if e.Revision != 0 && !e.marker {
			reply.Entries = append(reply.Entries, e.Entry)
		}
	}
	slices.SortFunc(reply.Entries, func(a, b env.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	return reply, nil
}

// entry is an entry, or the marker of a deleted one.
type entry struct {
	env.Entry
	marker bool
}

// last returns the latest entry of a key, or one with revision 0 if there is none. The
// stream's leader replies, from what it has.
func (m *conn) last(ctx context.Context, key string) (entry, error) {
	var reply struct {
		Error   *jetstream.APIError
		Message struct {
			Seq  uint64
			Hdrs []byte
			Data []byte
		}
	}
	err := m.request(ctx, "STREAM.MSG.GET", map[string]any{"last_by_subj": subjectOf(key)}, &reply)
	switch {
	case err != nil:
		return entry{}, err
	case reply.Error != nil && (reply.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound || reply.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound):
		return entry{}, nil
	case reply.Error != nil:
		return entry{}, unlessRefused(reply.Error)
	}
	marker := strings.Contains(string(reply.Message.Hdrs), markerHeader)
	return entry{env.Entry{Key: key, Value: string(reply.Message.Data), Revision: reply.Message.Seq}, marker}, nil
}

// put writes an entry if the latest message of its subject is the one of that revision; 0: if
// there is none.
func (m *conn) put(ctx context.Context, key, value string, revision uint64) (env.StoreReply, error) {
	return m.publish(ctx, &natsgo.Msg{Subject: subjectOf(key), Data: []byte(value)}, revision)
}

// markerHeader is the header of a message that says that the key is deleted.
const markerHeader = "KV-Operation"

// mark writes a marker, as put does.
func (m *conn) mark(ctx context.Context, key string, revision uint64) (env.StoreReply, error) {
	return m.publish(ctx, &natsgo.Msg{Subject: subjectOf(key), Header: natsgo.Header{markerHeader: {"DEL"}}}, revision)
}

func (m *conn) publish(ctx context.Context, message *natsgo.Msg, revision uint64) (env.StoreReply, error) {
	ack, err := m.js.PublishMsg(ctx, message, jetstream.WithExpectLastSequencePerSubject(revision), jetstream.WithRetryAttempts(0))
	refused := new(jetstream.APIError)
	switch {
	case err == nil:
		e := env.Entry{Key: keyOf(message.Subject), Value: string(message.Data), Revision: ack.Sequence}
		return env.StoreReply{Done: true, Entries: []env.Entry{e}}, nil
	case errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant):
		return env.StoreReply{}, nil
	}
	return env.StoreReply{}, unlessRefused(err)
}

// remove deletes the message of a revision. Declined if there is none: it has expired, or
// there is a newer one.
func (m *conn) remove(ctx context.Context, revision uint64) (env.StoreReply, error) {
	var reply struct {
		Success bool
		Error   *jetstream.APIError
	}
	err := m.request(ctx, "STREAM.MSG.DELETE", map[string]any{"seq": revision, "no_erase": true}, &reply)
	switch {
	case err != nil:
		return env.StoreReply{}, err
	case reply.Success:
		return env.StoreReply{Done: true}, nil
	case reply.Error == nil:
		return env.StoreReply{}, jetstream.ErrInvalidJetStreamResponse
	case gone(reply.Error):
		return env.StoreReply{}, nil
	}
	return env.StoreReply{}, unlessRefused(reply.Error)
}

// Codes of replies to the deletion of a message: there is no such sequence number, or it
// failed, for a reason that stands in the text.
const (
	codeNoSequence   jetstream.ErrorCode = 10043
	codeDeleteFailed jetstream.ErrorCode = 10057
)

// gone reports whether a deletion was refused because there is no such message.
func gone(e *jetstream.APIError) bool {
	return e.ErrorCode == codeNoSequence || e.ErrorCode == codeDeleteFailed && strings.Contains(e.Description, "no message found") ||
		e.ErrorCode == jetstream.JSErrCodeStreamNotFound
}

// request sends a request to the bucket's stream that the library does not offer with its reply.
func (m *conn) request(ctx context.Context, what string, ask, reply any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	answer, err := m.nc.RequestWithContext(ctx, "$JS.API."+what+"."+streamName, body)
	if err != nil {
		return unlessRefused(err)
	}
	return json.Unmarshal(answer.Data, reply)
}

// subjectOf returns the subject of a key. Bytes that a key of a bucket cannot have are written
// in hexadecimal.
func subjectOf(key string) string {
	var b strings.Builder
	b.WriteString(subjectPrefix)
	for i := range len(key) {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '/':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// keyOf is the inverse of subjectOf.
func keyOf(subject string) string {
	text := strings.TrimPrefix(subject, subjectPrefix)
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '=' && i+2 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
