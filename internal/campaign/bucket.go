package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats.go/jetstream"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Bucket keeps results by the hash of their bytes, so that the same result is kept once, whoever
// stores it.
type Bucket interface {
	put(ctx context.Context, hash string, data []byte) error
	get(ctx context.Context, hash string) (io.ReadCloser, error) // errMissing if it is not there
	remove(ctx context.Context, hash string) error               // nil if it is not there
	Close() error
}

// errMissing says that a bucket does not have a result.
var errMissing = errors.New("it is not in the bucket")

// errChanged says that a bucket has other bytes than were stored.
var errChanged = errors.New("the bucket has other bytes by this name")

// ErrLost says that the result of a shard was stored and is gone. It was forgotten: whoever follows the
// campaign has it made again.
var ErrLost = errors.New("its result is lost")

// hashOf returns the name of a result in a bucket.
func hashOf(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

// readAttempts is how often a result is read that seems to be missing, or has other bytes. Any replica of the
// servers sends it, and one that has lost its disk may not have it.
const readAttempts = 5

// read returns a result. It returns an error if the bucket has other bytes by that name, or too many.
func read(ctx context.Context, b Bucket, hash string) (data []byte, err error) {
	for range readAttempts {
		data, err = readOnce(ctx, b, hash)
		if ctx.Err() != nil || !errors.Is(err, errMissing) && !errors.Is(err, errChanged) {
			break
		}
	}
	return data, err
}

func readOnce(ctx context.Context, b Bucket, hash string) ([]byte, error) {
	r, err := b.get(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", hash, err)
	}
	defer func() { _ = r.Close() }() // it was read
	data, err := io.ReadAll(io.LimitReader(r, MaxResult+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // the servers have its name, and not its bytes
		return nil, fmt.Errorf("result %s: %w: %w", hash, errMissing, err)
	case err != nil:
		return nil, fmt.Errorf("result %s: %w", hash, err)
	case len(data) > MaxResult:
		return nil, fmt.Errorf("result %s: more than %d bytes: %w", hash, MaxResult, errChanged)
	case hashOf(data) != hash:
		return nil, fmt.Errorf("result %s: %w", hash, errChanged)
	}
	return data, nil
}

// objects is the bucket that the servers keep.
type objects struct{ store jetstream.ObjectStore }

func (o objects) put(ctx context.Context, hash string, data []byte) error {
	if _, err := o.store.GetInfo(ctx, hash); err == nil {
		return nil
	}
	_, err := o.store.PutBytes(ctx, hash, data)
	return err
}

func (o objects) get(ctx context.Context, hash string) (io.ReadCloser, error) {
	r, err := o.store.Get(ctx, hash)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		err = errMissing
	}
	return r, err
}

func (o objects) remove(ctx context.Context, hash string) error {
	err := o.store.Delete(ctx, hash)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}

func (objects) Close() error { return nil }

// remote is a bucket at a URL.
type remote struct{ *blob.Bucket }

// OpenBucket opens the bucket at a URL, such as file:///srv/results or s3://results?region=eu. The
// driver of its scheme must be linked in.
func OpenBucket(ctx context.Context, url string) (Bucket, error) {
	b, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", url, err)
	}
	return remote{b}, nil
}

func (r remote) put(ctx context.Context, hash string, data []byte) error {
	err := r.WriteAll(ctx, hash, data, &blob.WriterOptions{IfNotExist: true, DisableContentTypeDetection: true, ContentType: "application/octet-stream"})
	if gcerrors.Code(err) == gcerrors.FailedPrecondition { // it is there
		return nil
	}
	return err
}

func (r remote) get(ctx context.Context, hash string) (io.ReadCloser, error) {
	reader, err := r.NewReader(ctx, hash, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, errMissing
	}
	return reader, err
}

func (r remote) remove(ctx context.Context, hash string) error {
	err := r.Delete(ctx, hash)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}
