package keywatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/resp"
)

// stream is a connection on which a master sends its changes.
type stream struct {
	conn net.Conn
	in   resp.Reader
	read *counter // of what the connection has delivered

	acknowledged time.Time // when this was last done

	mu      sync.Mutex
	offset  int64     // the server's, up to which changes are pending or taken
	pending []change  // not taken yet, in order
	err     error     // why the stream has ended
	news    chan bool // receives when there may be something new
}

// counter counts the bytes that a reader delivers.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// acknowledgeInterval is the time between two acknowledgements. A master drops a replica from which it
// has received none for repl-timeout, which is a minute by default. While the stream is behind they
// are sent every nudgeInterval: a server that has sent its copy without a file begins the stream with
// the first acknowledgement after it has noticed, ten times a second, that its child process is done.
const (
	acknowledgeInterval = 10 * time.Second
	nudgeInterval       = 5 * time.Millisecond
)

// nothing acknowledges offset 0. No WAIT counts it.
var nothing = resp.Encode("REPLCONF", "ACK", "0")

// openStream makes a connection a replica's. The server then sends changes of all databases.
func openStream(ctx context.Context, conn net.Conn) (*stream, error) {
	s := &stream{conn: conn, news: make(chan bool, 1)}
	s.read = &counter{from: conn}
	s.in = resp.NewReader(s.read)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := s.handshake(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *stream) send(words ...string) error {
	_, err := io.WriteString(s.conn, resp.Encode(words...))
	return err
}

// handshake begins the replication, and skips the copy of the present keys.
func (s *stream) handshake() error {
	// A server older than 7.0 does not know the filter, and sends its keys.
	for _, words := range [][]string{{"REPLCONF", "capa", "eof", "capa", "psync2"}, {"REPLCONF", "rdb-filter-only", ""}} {
		if err := s.send(words...); err != nil {
			return err
		}
		reply, err := s.in.Next()
		if err != nil {
			return err
		}
		if no, is := reply.(resp.Error); is && !strings.Contains(string(no), "rdb-filter-only") {
			return fmt.Errorf("%s: %w", strings.Join(words, " "), no)
		}
	}
	if err := s.send("PSYNC", "?", "-1"); err != nil {
		return err
	}
	line, err := s.line()
	if err != nil {
		return err
	}
	words := strings.Fields(line)
	if len(words) != 3 || words[0] != "+FULLRESYNC" {
		return fmt.Errorf("PSYNC: %w", resp.Error(strings.TrimPrefix(line, "-")))
	}
	if s.offset, err = strconv.ParseInt(words[2], 10, 64); err != nil {
		return fmt.Errorf("PSYNC: %w", &resp.UnexpectedError{Text: line})
	}
	return s.skipCopy()
}

func (s *stream) acknowledge() error {
	s.acknowledged = time.Now()
	_, err := io.WriteString(s.conn, nothing)
	return err
}

// line returns the next line that is not empty: empty ones say that the server is still at work.
func (s *stream) line() (string, error) {
	for {
		line, err := s.in.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); err != nil || line != "" {
			return line, err
		}
	}
}

// skipCopy skips the copy of the keys: as many bytes as are announced, or up to a mark.
func (s *stream) skipCopy() error {
	line, err := s.line()
	if err != nil {
		return err
	}
	if mark, marked := strings.CutPrefix(line, "$EOF:"); marked && mark != "" {
		return s.skipTo(mark)
	}
	size, err := strconv.ParseInt(strings.TrimPrefix(line, "$"), 10, 64)
	if err != nil {
		return &resp.UnexpectedError{Text: line}
	}
	_, err = io.CopyN(io.Discard, s.in, size)
	return err
}

// skipTo skips everything up to and with a mark, which is random.
func (s *stream) skipTo(mark string) error {
	for last := make([]byte, 0, len(mark)); ; {
		b, err := s.in.ReadByte()
		if err != nil {
			return err
		}
		if len(last) == len(mark) {
			last = append(last[:0], last[1:]...)
		}
		if last = append(last, b); string(last) == mark {
			return nil
		}
	}
}

// follow receives changes until the stream ends.
func (s *stream) follow() {
	begun := s.read.n - int64(s.in.Buffered())
	base := s.offset
	p := parser{}
	for {
		reply, err := s.in.Next()
		var changes []change
		if err == nil {
			changes, err = p.command(reply)
		}
		s.mu.Lock()
		s.err = err
		s.offset = base + s.read.n - int64(s.in.Buffered()) - begun
		for i := range changes {
			changes[i].offset = s.offset
		}
		s.pending = append(s.pending, changes...)
		s.mu.Unlock()
		select {
		case s.news <- true:
		default:
		}
		if err != nil {
			return
		}
	}
}

// errSilent is the error of a server that does not send what it says there is.
var errSilent = errors.New("the replication stream does not come to the offset that INFO states")

// upTo waits until the stream has come to an offset, and takes the changes up to it. After an error
// it takes all that there are.
func (s *stream) upTo(ctx context.Context, offset int64) ([]change, error) {
	if time.Since(s.acknowledged) > acknowledgeInterval {
		_ = s.acknowledge() // the error comes from the stream, too
	}
	for {
		s.mu.Lock()
		reached, err := s.offset >= offset, s.err
		s.mu.Unlock()
		switch {
		case reached:
			return s.take(offset), nil
		case err != nil:
			return s.take(everything), err
		}
		select {
		case <-s.news:
		case <-time.After(nudgeInterval):
			_ = s.acknowledge()
		case <-ctx.Done():
			return s.take(everything), errors.Join(errSilent, context.Cause(ctx))
		}
	}
}

// everything is above every offset.
const everything = 1<<63 - 1

func (s *stream) take(offset int64) []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.pending) && s.pending[n].offset <= offset {
		n++
	}
	taken := s.pending[:n:n]
	s.pending = s.pending[n:]
	return taken
}
