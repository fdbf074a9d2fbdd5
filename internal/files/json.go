package files

import (
	"bytes"
	"encoding/json"
)

// Line returns a value as one line of JSON, without escapes for HTML.
func Line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// Strictly decodes JSON, and returns an error for unknown fields.
func Strictly(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
