package campaign_test

import (
	"errors"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// buckets returns the URLs of buckets of every kind.
func buckets(t *testing.T) map[string]string {
	t.Helper()
	store := s3mem.New()
	if err := store.CreateBucket("results"); err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(s3.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	return map[string]string{
		"directory": "file://" + t.TempDir() + "?no_tmp_dir=true",
		"S3":        "s3://results?region=eu-1&use_path_style=true&hostname_immutable=true&endpoint=" + url.QueryEscape(s3.URL),
	}
}

// Results in a bucket of the user's are the same as those that the servers keep.
func TestBuckets(t *testing.T) {
	for name, at := range buckets(t) {
		t.Run(name, func(t *testing.T) {
			s := spec("count", 10)
			s.Bucket = at
			c := submit(t, embedded(t, t.TempDir()), s)
			if p := finish(t, c, worker("a", nil)); p.Done != 10 {
				t.Errorf("progress: %+v", p)
			}
			if got := whole(t, c); got != counted(10) {
				t.Errorf("results:\n%s", got)
			}
			if first, err := c.Store(t.Context(), build, 3, "b", []byte("shard 3\n")); err != nil || first {
				t.Errorf("the same result again: first %v, %v", first, err)
			}
		})
	}
}

// A result that somebody has changed, or removed, is not taken for one, and is made again.
func TestBucketWithOtherBytes(t *testing.T) {
	dir := t.TempDir()
	s := spec("count", 1)
	s.Bucket = "file://" + dir
	c := submit(t, embedded(t, t.TempDir()), s)
	finish(t, c, worker("a", nil))
	all, err := filepath.Glob(dir + "/*")
	if err != nil || len(all) == 0 {
		t.Fatalf("%q, %v", all, err)
	}
	for _, path := range all {
		if !strings.HasSuffix(path, ".attrs") {
			if err := os.WriteFile(path, []byte("shard 1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.Result(t.Context(), build, 0); err == nil || !strings.Contains(err.Error(), "the bucket has other bytes by this name") {
		t.Errorf("got %v", err)
	}
	if p := finish(t, c, worker("b", nil)); p.Done != 1 {
		t.Errorf("made again: %+v", p)
	}
	if got := whole(t, c); got != counted(1) {
		t.Errorf("results:\n%s", got)
	}
	for _, path := range all {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Result(t.Context(), build, 0); !errors.Is(err, campaign.ErrLost) || !strings.Contains(err.Error(), "not in the bucket") {
		t.Errorf("got %v", err)
	}
	if p := finish(t, c, worker("c", nil)); p.Done != 1 {
		t.Errorf("made again: %+v", p)
	}
}

func TestUnknownBucket(t *testing.T) {
	if _, err := campaign.OpenBucket(t.Context(), "ftp://host"); err == nil || !strings.Contains(err.Error(), "ftp://host") {
		t.Errorf("got %v", err)
	}
}
