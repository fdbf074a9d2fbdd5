package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Failure is a failed attempt to make a shard.
type Failure struct {
	Worker string `json:"worker"`
	Error  string `json:"error"`
	Log    string `json:"log,omitempty"` // the end of what the process printed
}

// Aside is a shard that is not tried any more.
type Aside struct {
	Build    string    `json:"build"` // its ID
	Shard    int       `json:"shard"`
	Attempts int       `json:"attempts"` // including those whose worker never reported
	Failures []Failure `json:"failures"` // that were reported, without their logs but for the last
}

// String says why.
func (a Aside) String() string {
	text := fmt.Sprintf("shard %d was set aside after %d attempts", a.Shard, a.Attempts)
	if len(a.Failures) == 0 {
		return text + ", whose workers never reported"
	}
	last := a.Failures[len(a.Failures)-1]
	return fmt.Sprintf("%s; the last one, of %s: %s", text, last.Worker, last.Error)
}

// fail stores why an attempt has failed.
func (c *Campaign) fail(ctx context.Context, b Build, shard, attempt int, f Failure) error {
	f.Error, f.Log = clip(f.Error, 1000), clip(f.Log, maxMessage-2000)
	text, err := json.Marshal(f)
	if err == nil {
		_, err = c.results.Put(ctx, keyOf(failureKey, b, shard, strconv.Itoa(attempt)), text)
	}
	return err
}

// clip returns the end of a text of at most so many bytes.
func clip(text string, size int) string {
	if len(text) > size {
		text = text[len(text)-size:]
	}
	return strings.ToValidUTF8(text, "")
}

// setAside stores that a shard is not tried any more.
func (c *Campaign) setAside(ctx context.Context, b Build, shard, attempts int) error {
	a := Aside{Build: b.ID(), Shard: shard, Attempts: attempts}
	for n := 1; n <= attempts; n++ {
		stored, err := c.results.Get(ctx, keyOf(failureKey, b, shard, strconv.Itoa(n)))
		if err != nil {
			continue // its worker never reported, or the servers do not answer and the key stays
		}
		var f Failure
		if json.Unmarshal(stored.Value(), &f) == nil {
			a.Failures = append(a.Failures, f)
		}
	}
	for i := range max(0, len(a.Failures)-1) {
		a.Failures[i].Log = ""
	}
	a.Failures = a.Failures[max(0, len(a.Failures)-10):]
	text, err := json.Marshal(a)
	if err == nil {
		_, err = c.results.Put(ctx, keyOf(asideKey, b, shard), text)
	}
	return err
}

// forgive forgets all failures, so that shards that were set aside are tried again.
func (c *Campaign) forgive(ctx context.Context) error {
	keys, err := c.results.ListKeysFiltered(ctx, asideKey+".>", failureKey+".>")
	if err != nil {
		return err
	}
	for k := range keys.Keys() {
		if err := c.results.Delete(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// decodeAside reads an aside of the servers'.
func decodeAside(e jetstream.KeyValueEntry) (a Aside, err error) {
	err = json.Unmarshal(e.Value(), &a)
	return a, err
}
