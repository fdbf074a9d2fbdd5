package packed_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/packed"
)

var forms = []string{"plain", "gzip", "zstd"}

func pack(form string, plain []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch form {
	case "plain":
		return plain
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	}
	if _, err := w.Write(plain); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func unpack(input io.Reader) ([]byte, error) {
	r, err := packed.Reader(input)
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(r)
	return plain, errors.Join(err, r.Close())
}

// Law: what was packed is read as it was, in one stream or several, and however few
// bytes a read gives.
func TestWhatWasPackedIsReadAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom(forms).Draw(t, "form")
		// Letters: plain input that begins as another form does is of that form.
		first := []byte(rapid.StringMatching(`[a-z]{0,200}`).Draw(t, "first"))
		second := []byte(rapid.StringMatching(`[a-z]{0,200}`).Draw(t, "second"))
		input := append(bytes.Clone(pack(form, first)), pack(form, second)...)
		got, err := unpack(iotest.OneByteReader(bytes.NewReader(input)))
		if err != nil || string(got) != string(first)+string(second) {
			t.Fatalf("%s: read %q, %v; packed %q and %q", form, got, err, first, second)
		}
	})
}

// Law: compressed input that is cut off is an error, wherever that is but before its
// first four bytes, by which it is known.
func TestWhatIsCutOffIsAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom(forms[1:]).Draw(t, "form")
		input := pack(form, []byte(rapid.StringN(0, 500, -1).Draw(t, "plain")))
		cut := rapid.IntRange(4, len(input)-1).Draw(t, "cut")
		_, err := unpack(bytes.NewReader(input[:cut]))
		if !errors.Is(err, packed.ErrBroken) || !strings.Contains(err.Error(), "the "+form+" stream is cut off") {
			t.Fatalf("%s of %d bytes, cut off after %d: %v", form, len(input), cut, err)
		}
	})
}

func TestBadInputIsNamed(t *testing.T) {
	bad := errors.New("no such tape")
	for name, c := range map[string]struct {
		input io.Reader
		want  string
	}{
		"damaged gzip":     {bytes.NewReader(flipped(pack("gzip", []byte("hello hello hello hello")), -6)), "the gzip stream is damaged"},
		"damaged zstd":     {bytes.NewReader(flipped(pack("zstd", []byte("hello hello hello hello")), -2)), "the zstd stream is damaged"},
		"garbage behind":   {strings.NewReader(string(pack("zstd", []byte("hello"))) + "garbage!"), "the zstd stream is damaged"},
		"a zstd window":    {bytes.NewReader([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0, 0, 0, 0, 0, 0}), "wants more than 128 MiB"},
		"a failing source": {io.MultiReader(bytes.NewReader(pack("gzip", []byte("hello"))[:8]), iotest.ErrReader(bad)), "no such tape"},
		"nothing read":     {iotest.ErrReader(bad), "no such tape"},
	} {
		if _, err := unpack(c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func flipped(input []byte, at int) []byte {
	input[len(input)+at] ^= 0x55
	return input
}
