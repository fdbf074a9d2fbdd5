package parts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// MaxBytes is the largest size of a stored part in bytes. 10,000 runs take 100 to 170 KB.
const MaxBytes = 64 << 20

// maxHead is the largest size of the first line of a stored part.
const maxHead = 512

// seal is the first line of a stored part; the second is its content.
type seal struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Bytes   int    `json:"bytes"`  // of the content
	SHA256  string `json:"sha256"` // of the content
}

// Seal stores a value: as a line of JSON, after a line with a format, its version, and the size
// and hash of the content. Equal values have equal bytes.
func Seal(format string, version int, v any) ([]byte, error) {
	var content bytes.Buffer
	enc := json.NewEncoder(&content)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	hash := sha256.Sum256(content.Bytes())
	head, err := json.Marshal(seal{format, version, content.Len(), hex.EncodeToString(hash[:])})
	if err != nil {
		return nil, err
	}
	if content.Len()+len(head) >= MaxBytes {
		return nil, fmt.Errorf("%d bytes: want less than %d; make the parts smaller", content.Len(), MaxBytes)
	}
	return append(append(head, '\n'), content.Bytes()...), nil
}

// Unseal reads what [Seal] has stored. It returns an error if the text is of another format or
// version, is cut off or changed, or has fields that v has not.
func Unseal(text []byte, format string, version int, v any) error {
	if len(text) > MaxBytes {
		return fmt.Errorf("it has %d bytes; want at most %d", len(text), MaxBytes)
	}
	end := bytes.IndexByte(text[:min(len(text), maxHead)], '\n')
	if end < 0 {
		return fmt.Errorf("it is not a stored part, or cut off: no line ends within its first %d bytes", min(len(text), maxHead))
	}
	var head seal
	content := text[end+1:]
	if err := strict(text[:end], &head); err != nil {
		return fmt.Errorf("it is not a stored part: %w", err)
	}
	same, err := json.Marshal(head)
	if err != nil {
		return err
	}
	switch hash := sha256.Sum256(content); {
	case head.Format != format:
		return fmt.Errorf("its format is %q; want %q", head.Format, format)
	case head.Version != version:
		return fmt.Errorf("it has version %d; this program reads version %d", head.Version, version)
	case !bytes.Equal(same, text[:end]):
		return fmt.Errorf("its first line is %q; want %q", text[:end], same)
	case len(content) < head.Bytes:
		return fmt.Errorf("it is cut off: %d of %d bytes are there", len(content), head.Bytes)
	case len(content) > head.Bytes:
		return fmt.Errorf("it has %d bytes; its first line says %d", len(content), head.Bytes)
	case head.SHA256 != hex.EncodeToString(hash[:]):
		return errors.New("its content has been changed: the hash is another")
	}
	return strict(content, v)
}

// strict decodes one JSON value without unknown fields, and nothing after it.
func strict(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(text[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%d unexpected bytes after the value", len(rest))
	}
	return nil
}
