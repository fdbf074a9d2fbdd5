package resp

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestReplies(t *testing.T) {
	for text, want := range map[string]any{
		"+OK\r\n":                      "OK",
		"-ERR no\r\n":                  Error("ERR no"),
		":42\r\n":                      int64(42),
		"$3\r\na\nb\r\n":               "a\nb",
		"$-1\r\n":                      nil,
		"*2\r\n$0\r\n\r\n*1\r\n:1\r\n": []any{"", []any{int64(1)}},
		Encode("SET", "k", "a\r\nb"):   []any{"SET", "k", "a\r\nb"},
	} {
		r := NewReader(strings.NewReader(text))
		got, err := r.Next()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%q: then %v", text, err)
		}
	}
	for _, text := range []string{"", "*2\r\n:1\r\n", "$5\r\nab\r\n"} {
		if got, err := NewReader(strings.NewReader(text)).Next(); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"\r\n", "+OK\n", ":x\r\n", "?1\r\n", "$99999999999\r\n", strings.Repeat("*1\r\n", maxDepth+1)} {
		got, err := NewReader(strings.NewReader(text)).Next()
		if !errors.As(err, new(*UnexpectedError)) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestCode(t *testing.T) {
	if got := Error("NOPERM this user").Code(); got != "NOPERM" {
		t.Error(got)
	}
}
