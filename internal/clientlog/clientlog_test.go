package clientlog

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// elsewhere makes the loggers of the program write to a buffer during a test.
func elsewhere(t *testing.T) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	writer, flags, logger, goRedis := log.Writer(), log.Flags(), slog.Default(), goRedisDefault.Writer()
	t.Cleanup(func() { setStandard(logger, writer, flags); goRedisDefault.SetOutput(goRedis) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	log.SetOutput(&out)
	log.SetFlags(0)
	goRedisDefault.SetOutput(&out)
	return &out
}

// say logs by each logger.
func say(what string) {
	client := redis.NewClient(&redis.Options{DialerRetries: 1, MaxRetries: -1, Dialer: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New(what + " by redis")
	}})
	_ = client.Ping(context.Background())
	_ = client.Close()
	log.Print(what + " by log")
	slog.Info(what + " by slog")
	slog.With("k", 1).WithGroup("g").Info(what+" by derived", "l", 2)
	slog.Debug(what + " by debug")
}

// wantSaid checks which lines a text has.
func wantSaid(t *testing.T, where, text, what string, want bool) {
	t.Helper()
	for _, by := range []string{"redis", "log", "slog", "derived"} {
		if got := strings.Contains(text, what+" by "+by); got != want {
			t.Errorf("%s: %q by %s is in it: %v\n%s", where, what, by, got, text)
		}
	}
	if strings.Contains(text, "debug") {
		t.Errorf("%s has a line below the level that the program has set:\n%s", where, text)
	}
}

// Law: a line goes to each capture that wants it, and otherwise to where it went before; after the
// captures the loggers are those from before.
func TestLinesGoToOnePlace(t *testing.T) {
	out := elsewhere(t)
	writer, logger := log.Writer(), slog.Default()
	var one, two Log
	wanted := false
	restoreOne := Capture(&one, func() bool { return wanted })
	say("unwanted")
	wanted = true
	say("first")
	restoreTwo := Capture(&two, func() bool { return true })
	say("both")
	restoreOne()
	restoreOne() // once more changes nothing
	say("second")
	restoreTwo()
	say("after")
	for what, where := range map[string][]bool{"unwanted": {true, false, false}, "first": {false, true, false}, "both": {false, true, true}, "second": {false, false, true}, "after": {true, false, false}} {
		wantSaid(t, "elsewhere", out.String(), what, where[0])
		wantSaid(t, "the first log", string(one.Text()), what, where[1])
		wantSaid(t, "the second log", string(two.Text()), what, where[2])
	}
	if text := string(one.Text()); !strings.Contains(text, `msg="first by derived" k=1 g.l=2`) {
		t.Errorf("attributes and groups are missing:\n%s", text)
	}
	if log.Writer() != writer || slog.Default() != logger {
		t.Error("the loggers are not those from before")
	}
}

// The default logger of slog writes by that of package log, and the latter to the former once it was
// set: no line may go in a circle.
func TestDefaultLoggersOfTheLibrary(t *testing.T) {
	var out bytes.Buffer
	writer := log.Writer()
	defer log.SetOutput(writer)
	log.SetOutput(&out)
	wanted := true
	var logged Log
	restore := Capture(&logged, func() bool { return wanted })
	slog.Info("inside")
	wanted = false
	slog.Info("outside")
	log.Print("outside, too")
	restore()
	slog.Info("after")
	if text := out.String(); strings.Contains(text, "inside") || strings.Count(text, "\n") != 3 {
		t.Errorf("elsewhere: %s", text)
	}
	if text := string(logged.Text()); strings.Count(text, "\n") != 1 || !strings.Contains(text, "inside") {
		t.Errorf("logged: %s", text)
	}
}

// A log keeps its beginning, and counts the lines that it leaves out.
func TestLogIsBounded(t *testing.T) {
	var l Log
	if l.Text() != nil {
		t.Error("a log of nothing has a text")
	}
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range maxBytes/len(line) + 7 {
		if n, err := l.Write(line); n != len(line) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	l.Write([]byte("short\n"))
	text := l.Text()
	if last := "… and 8 lines more, left out beyond 1048576 bytes\n"; !bytes.HasSuffix(text, []byte("x\n"+last)) || len(text) != maxBytes+len(last) {
		t.Errorf("%d bytes, which end with %s", len(text), text[len(text)-80:])
	}
}
