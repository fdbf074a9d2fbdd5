package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Engine is a connection to the servers that keep campaigns.
type Engine struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	replicas int
	close    func() error
	ackWait  time.Duration
	alone    bool // no other process can have shards of these campaigns
}

// Names on the servers.
const (
	listBucket = "lockstorm-campaigns"
	prefix     = "lockstorm-campaign-" // of the stream and buckets of a campaign
	subjects   = "lockstorm.campaign." // of its shards
)

// requestTimeout is how long one request to the servers may take.
const requestTimeout = 5 * time.Second

// undated returns a context that ends with ctx and has no deadline. Every request to the servers has a
// timeout of its own, unless its context has a deadline, however late: then it would wait for a lost
// reply until then.
func undated(ctx context.Context) (context.Context, func()) {
	free, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return free, func() {
		stop()
		cancel(nil)
	}
}

// newEngine opens the list of campaigns, or makes it.
func newEngine(ctx context.Context, conn *nats.Conn, replicas int, end func() error) (*Engine, error) {
	ctx, done := undated(ctx)
	defer done()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(requestTimeout))
	if err != nil {
		return nil, err
	}
	e := &Engine{conn: conn, js: js, replicas: replicas, close: end, ackWait: defaultAckWait}
	_, err = e.list(ctx)
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, nats.ErrNoResponders) {
		err = errors.New("JetStream is not enabled there")
	}
	return e, err
}

// list opens the bucket of all campaigns, by name, or makes it. Servers can lose it.
func (e *Engine) list(ctx context.Context) (jetstream.KeyValue, error) {
	return e.keyValue(ctx, jetstream.KeyValueConfig{Bucket: listBucket, Description: "campaigns of lockstorm", MaxValueSize: maxSpec + 1024})
}

// keyValue opens a bucket, or makes it. It has the stream that [jetstream.JetStream.CreateKeyValue] makes, but
// for AllowDirect: the leader answers reads. Otherwise any replica does, and one that has lost its disk may
// never catch up.
func (e *Engine) keyValue(ctx context.Context, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	kv, err := e.js.KeyValue(ctx, c.Bucket)
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return kv, err
	}
	_, err = e.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "KV_" + c.Bucket, Description: c.Description, Subjects: []string{"$KV." + c.Bucket + ".>"},
		MaxMsgsPerSubject: 1, MaxMsgSize: c.MaxValueSize, MaxAge: c.TTL, MaxBytes: -1, MaxMsgs: -1, MaxConsumers: -1,
		Storage: jetstream.FileStorage, Replicas: e.replicas, Discard: jetstream.DiscardNew,
		AllowRollup: true, DenyDelete: true, Duplicates: duplicateWindow(c.TTL),
	})
	if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // somebody else was faster
		return nil, err
	}
	return e.js.KeyValue(ctx, c.Bucket)
}

// duplicateWindow returns how long a server recognises messages that it gets twice: no longer than it keeps
// them.
func duplicateWindow(ttl time.Duration) time.Duration {
	const usual = 2 * time.Minute
	if ttl > 0 {
		return min(ttl, usual)
	}
	return usual
}

// Close ends the connection, and the embedded server if there is one.
func (e *Engine) Close() error { return e.close() }

// entry is a campaign in the list.
type entry struct {
	Spec    Spec `json:"spec"`
	Stopped bool `json:"stopped,omitempty"` // workers leave it alone

	// Removed: somebody has removed it. The entry stays, so that whoever follows it sees that the
	// servers have not just forgotten it.
	Removed bool `json:"removed,omitempty"`
}

func (en entry) encode() ([]byte, error) {
	if _, err := en.Spec.encode(); err != nil { // also checks it
		return nil, err
	}
	return json.Marshal(en)
}

// decodeEntry reads an entry. The servers may hold anything.
func decodeEntry(name string, text []byte) (entry, error) {
	var en entry
	if err := json.Unmarshal(text, &en); err != nil {
		return en, fmt.Errorf("campaign %s: %w", name, errSpec)
	}
	if en.Spec.Name != name {
		return en, fmt.Errorf("campaign %s: %w: it has the name %q", name, errSpec, en.Spec.Name)
	}
	return en, en.Spec.Validate()
}

// Submit makes a campaign, and queues its shards. If there is a campaign of that name that does the
// same, it goes on with it: it is no longer stopped, shards that were set aside are tried again, and
// its limits are those of the new spec. A campaign that does something else is an error.
func (e *Engine) Submit(ctx context.Context, s Spec) (*Campaign, error) {
	ctx, done := undated(ctx)
	defer done()
	text, err := entry{Spec: s}.encode()
	if err != nil {
		return nil, err
	}
	list, err := e.list(ctx)
	if err != nil {
		return nil, err
	}
	_, err = list.Create(ctx, s.Name, text)
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
		if err := resume(ctx, list, s); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	c, err := e.Open(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(c.takeBack(ctx), c.forgive(ctx)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// takeBack queues the shards again that a process had which is gone.
func (c *Campaign) takeBack(ctx context.Context) error {
	if !c.engine.alone {
		return nil
	}
	for _, b := range c.Spec.Builds {
		if err := c.stream.DeleteConsumer(ctx, b.ID()); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
	}
	return nil
}

// resume replaces the entry of a campaign that does the same.
func resume(ctx context.Context, list jetstream.KeyValue, s Spec) error {
	stored, err := list.Get(ctx, s.Name)
	if err != nil {
		return err
	}
	was, err := decodeEntry(s.Name, stored.Value())
	if err != nil {
		return err
	}
	if d := was.Spec.differences(s); len(d) > 0 && !was.Removed {
		return fmt.Errorf("campaign %s does something else: %s", s.Name, strings.Join(d, "; "))
	}
	if !was.Removed {
		s.Builds = was.Spec.Builds
	}
	text, err := entry{Spec: s}.encode()
	if err == nil {
		_, err = list.Update(ctx, s.Name, text, stored.Revision())
	}
	return err
}

// join lets a build take part in a campaign that asks for more builds than it has. It returns the
// builds that take part then.
func (e *Engine) join(ctx context.Context, name string, b Build) ([]Build, error) {
	list, err := e.list(ctx)
	if err != nil {
		return nil, err
	}
	for {
		stored, err := list.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		en, err := decodeEntry(name, stored.Value())
		if err != nil || en.Spec.Has(b) || len(en.Spec.Builds) >= en.Spec.Want {
			return en.Spec.Builds, err
		}
		en.Spec.Builds = append(en.Spec.Builds, b)
		text, err := en.encode()
		if err != nil {
			return nil, err
		}
		_, err = list.Update(ctx, name, text, stored.Revision())
		if !errors.Is(err, jetstream.ErrKeyExists) { // another build was faster
			return en.Spec.Builds, err
		}
	}
}

// differences says in what another campaign of the same name differs. Limits may differ.
func (s Spec) differences(other Spec) (list []string) {
	if a, b := strings.Join(s.Command, " "), strings.Join(other.Command, " "); a != b {
		list = append(list, fmt.Sprintf("command %q, and not %q", a, b))
	}
	if s.Size != other.Size {
		list = append(list, fmt.Sprintf("shards of up to %d runs, and not %d", s.Size, other.Size))
	} else if s.Shards != other.Shards {
		list = append(list, fmt.Sprintf("%d shards, and not %d", s.Shards, other.Shards))
	}
	if s.Builds[0] != other.Builds[0] {
		list = append(list, fmt.Sprintf("build %s, and not %s", s.Builds[0], other.Builds[0]))
	}
	if s.Want != other.Want {
		list = append(list, fmt.Sprintf("%s, and not %d", textfmt.Count(s.Want, "build"), other.Want))
	}
	if s.Bucket != other.Bucket {
		list = append(list, fmt.Sprintf("bucket %q, and not %q", s.Bucket, other.Bucket))
	}
	if len(list) == 0 && s.Sum != other.Sum {
		list = append(list, "the same command does something else, because its files or this program have changed")
	}
	return list
}

func buildNames(builds []Build) string {
	list := make([]string, len(builds))
	for i, b := range builds {
		list[i] = b.String()
	}
	return strings.Join(list, ", ")
}

// List returns the names of all campaigns, sorted.
func (e *Engine) List(ctx context.Context) ([]string, error) {
	ctx, done := undated(ctx)
	defer done()
	campaigns, err := e.list(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := campaigns.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	var list []string
	for name := range keys.Keys() {
		_, err := e.entry(ctx, name)
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list, nil
}

// ErrNone says that there is no campaign of that name.
var ErrNone = errors.New("there is no such campaign")

// errUnknown is ErrNone for a name of which the servers know nothing.
var errUnknown = fmt.Errorf("%w", ErrNone)

// ErrStopped says that a campaign is stopped.
var ErrStopped = errors.New("the campaign is stopped")

// OpenRunning is Open for a campaign that is not stopped, or else [ErrStopped].
func (e *Engine) OpenRunning(ctx context.Context, name string) (*Campaign, error) {
	ctx, done := undated(ctx)
	defer done()
	en, err := e.entry(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case en.Stopped:
		return nil, fmt.Errorf("campaign %s: %w", name, ErrStopped)
	}
	return e.open(ctx, en.Spec)
}

// Open returns the campaign of a name, or [ErrNone].
func (e *Engine) Open(ctx context.Context, name string) (*Campaign, error) {
	ctx, done := undated(ctx)
	defer done()
	en, err := e.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	return e.open(ctx, en.Spec)
}

func (e *Engine) entry(ctx context.Context, name string) (entry, error) {
	if err := ValidateName(name); err != nil {
		return entry{}, err
	}
	list, err := e.list(ctx)
	if err != nil {
		return entry{}, err
	}
	stored, err := list.Get(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return entry{}, fmt.Errorf("campaign %s: %w", name, errUnknown)
	}
	if err != nil {
		return entry{}, err
	}
	en, err := decodeEntry(name, stored.Value())
	if err == nil && en.Removed {
		err = fmt.Errorf("campaign %s: %w", name, ErrNone)
	}
	return en, err
}

// Stop marks a campaign as stopped: workers return its shards, and take no more.
func (e *Engine) Stop(ctx context.Context, name string) error {
	ctx, done := undated(ctx)
	defer done()
	en, err := e.entry(ctx, name)
	if err != nil || en.Stopped {
		return err
	}
	en.Stopped = true
	return e.replace(ctx, en)
}

// replace replaces the entry of a campaign.
func (e *Engine) replace(ctx context.Context, en entry) error {
	text, err := en.encode()
	if err != nil {
		return err
	}
	list, err := e.list(ctx)
	if err == nil {
		_, err = list.Put(ctx, en.Spec.Name, text)
	}
	return err
}

// Remove stops a campaign and deletes it with all results that the servers keep. What is in a bucket
// of its own stays there.
func (e *Engine) Remove(ctx context.Context, name string) error {
	ctx, done := undated(ctx)
	defer done()
	en, err := e.entry(ctx, name)
	if err != nil {
		return err
	}
	en.Stopped, en.Removed, en.Spec.Files = true, true, nil
	if err := e.replace(ctx, en); err != nil {
		return err
	}
	for _, remove := range []func() error{
		func() error { return e.js.DeleteStream(ctx, prefix+name) },
		func() error { return e.js.DeleteKeyValue(ctx, prefix+name) },
		func() error { return e.js.DeleteObjectStore(ctx, prefix+name) },
	} {
		if err := remove(); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// gone reports whether an error says that the servers do not have what was asked for.
func gone(err error) bool {
	for _, one := range []error{
		jetstream.ErrConsumerDeleted, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDoesNotExist,
		jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound,
		nats.ErrStreamNotFound, nats.ErrConsumerNotFound, // a watch returns these
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}
