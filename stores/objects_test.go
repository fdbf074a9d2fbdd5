package stores

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/sim"
)

// objects is a store in a bucket of S3, by conditional writes: PUT with If-None-Match creates, PUT with If-Match
// replaces. The ETag is a hash of the content, so revisions are numbered here. Nothing deletes: gofakes3 v1.2.0
// ignores If-Match in DELETE.
type objects struct {
	bucket string // its URL

	mu    sync.Mutex
	etags []string // of writes, each behind the key and a space; the first has revision 1
}

func openObjects(t *testing.T) *objects {
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	s := &objects{bucket: server.URL + "/locks"}
	if status, _, _, err := s.send(t.Context(), http.MethodPut, "", "", nil); err != nil || status != http.StatusOK {
		t.Fatalf("create a bucket: status %d, %v", status, err)
	}
	return s
}

// send sends a request and returns the reply's status, ETag and body.
func (s *objects) send(ctx context.Context, method, path, body string, header http.Header) (status int, etag, content string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, s.bucket+path, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	if header != nil {
		r.Header = header
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", "", err
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, reply.Header.Get("ETag"), string(text), err
}

// Ask implements [env.Store].
func (s *objects) Ask(ctx context.Context, r env.StoreRequest, _ env.Instant) (env.StoreReply, error) {
	switch r.Op {
	case env.StoreCreate:
		return s.write(ctx, r, http.Header{"If-None-Match": {"*"}})
	case env.StoreUpdate:
		return s.write(ctx, r, http.Header{"If-Match": {s.etag(r.Key, r.Revision)}})
	case env.StoreList:
		return s.list(ctx, r.Key)
	}
	return env.StoreReply{}, live.ErrStoreOp
}

// write puts an object, unless the condition in the header is not met. Then it returns the object that is there.
func (s *objects) write(ctx context.Context, r env.StoreRequest, condition http.Header) (env.StoreReply, error) {
	status, etag, text, err := s.send(ctx, http.MethodPut, "/"+r.Key, r.Value, condition)
	switch {
	case err != nil:
		return env.StoreReply{}, err
	case status == http.StatusOK:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.etags = append(s.etags, r.Key+" "+etag)
		return env.StoreReply{Done: true, Entries: []env.Entry{{Key: r.Key, Value: r.Value, Revision: uint64(len(s.etags))}}}, nil
	case status == http.StatusPreconditionFailed:
		entries, err := s.read(ctx, r.Key)
		return env.StoreReply{Entries: entries}, err
	}
	return env.StoreReply{}, fmt.Errorf("PUT %s: status %d: %s", r.Key, status, text)
}

// read returns the object of a key, if there is one.
func (s *objects) read(ctx context.Context, key string) ([]env.Entry, error) {
	status, etag, value, err := s.send(ctx, http.MethodGet, "/"+key, "", nil)
	switch {
	case err != nil || status == http.StatusNotFound:
		return nil, err
	case status != http.StatusOK:
		return nil, fmt.Errorf("GET %s: status %d: %s", key, status, value)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return []env.Entry{{Key: key, Value: value, Revision: uint64(1 + slices.Index(s.etags, key+" "+etag))}}, nil
}

// list returns the objects whose keys have a prefix, in the order of their revisions.
func (s *objects) list(ctx context.Context, prefix string) (env.StoreReply, error) {
	_, _, text, err := s.send(ctx, http.MethodGet, "?list-type=2&prefix="+url.QueryEscape(prefix), "", nil)
	if err != nil {
		return env.StoreReply{}, err
	}
	var found struct {
		Contents []struct{ Key string }
	}
	if err := xml.Unmarshal([]byte(text), &found); err != nil {
		return env.StoreReply{}, fmt.Errorf("list of %s: %w: %s", prefix, err, text)
	}
	reply := env.StoreReply{Done: true}
	for _, object := range found.Contents {
		entries, err := s.read(ctx, object.Key)
		if err != nil {
			return env.StoreReply{}, err
		}
		reply.Entries = append(reply.Entries, entries...)
	}
	slices.SortFunc(reply.Entries, func(a, b env.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	return reply, nil
}

// etag returns the ETag of a revision of a key, or one that no object has.
func (s *objects) etag(key string, revision uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision > 0 && revision <= uint64(len(s.etags)) {
		if etag, is := strings.CutPrefix(s.etags[revision-1], key+" "); is {
			return etag
		}
	}
	return `"none"`
}

// Law: the simulated store replies to the object-store lock as conditional writes to S3 do.
func TestObjectsAnswerAsTheSimulatedStore(t *testing.T) {
	const number, steps = 20, 30
	can := storeAbility{kept: true}
	random := rand.New(rand.NewPCG(1, 2))
	var scripts [][]storeStep
	for range number {
		scripts = append(scripts, drawStoreScript(random, can, steps))
	}
	simulated, err := sim.Open(t.Context(), storeSetting(3), 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	want := playStores(t, simulated, can, scripts)
	bucket := openObjects(t)
	updates := map[bool]int{} // done or declined
	for i, script := range scripts {
		got := playStore(script, can, fmt.Sprintf("script-%d", i), func(int) env.Store { return bucket }, func(int) env.Instant { return 0 })
		for j := range script {
			if got[j] != want[i][j] {
				t.Errorf("script %d: the simulated store and S3 differ at step %d:\n%s", i, j+1, sidesOf(script, want[i], got, j))
				break
			}
			if script[j].op == env.StoreUpdate {
				updates[strings.HasPrefix(got[j], fmt.Sprintf("%v: true", env.StoreUpdate))]++
			}
		}
	}
	if updates[true] == 0 || updates[false] == 0 {
		t.Errorf("of the updates %d were done and %d declined: the scripts test nothing", updates[true], updates[false])
	}
}

// Of clients that create an object at once, or replace it at one ETag, one succeeds.
func TestObjectsHaveOneWinner(t *testing.T) {
	const clients = 8
	bucket := openObjects(t)
	last := env.Entry{Key: "lock"}
	for _, op := range []env.StoreOp{env.StoreCreate, env.StoreUpdate} {
		replies, failed := make([]env.StoreReply, clients), make([]error, clients)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() {
				replies[i], failed[i] = bucket.Ask(t.Context(), env.StoreRequest{Op: op, Key: last.Key, Value: fmt.Sprintf("%v by %d", op, i), Revision: last.Revision}, 0)
			})
		}
		all.Wait()
		if err := errors.Join(failed...); err != nil {
			t.Fatal(err)
		}
		winners := slices.DeleteFunc(replies, func(r env.StoreReply) bool { return !r.Done })
		if len(winners) != 1 {
			t.Fatalf("%v: %d winners", op, len(winners))
		}
		last = winners[0].Entries[0]
	}
}
