package main

import (
	"fmt"
	"io"
	"os"
)

// spool keeps what can be read once for a second time, in a temporary file that has no
// name any more when the first byte goes into it: however the program ends, nothing is
// left. Whatever goes wrong with it, the first reading goes on.
type spool struct {
	file *os.File
	size int64
	err  error
}

func newSpool() *spool {
	s := &spool{}
	if s.file, s.err = os.CreateTemp("", "lockstorm-"); s.err == nil {
		s.err = os.Remove(s.file.Name())
	}
	return s
}

// fill reads on from what is spooled meanwhile.
func (s *spool) fill(from io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(from, s), from}
}

// maxSpool is the most that is kept, in bytes: an input that never ends shall not fill
// the disk.
const maxSpool = 4 << 30

// Write keeps what has been read, and never fails: that comes to light when it is wanted.
func (s *spool) Write(p []byte) (int, error) {
	if s.err != nil {
		return len(p), nil
	}
	var n int
	n, s.err = s.file.Write(p)
	if s.size += int64(n); s.size > maxSpool {
		s.err = fmt.Errorf("more than %d GiB came, too much to be read again", maxSpool>>30)
		_ = s.file.Truncate(0)
	}
	return len(p), nil
}

// open opens what was spooled, from its begin.
func (s *spool) open() (io.ReadCloser, error) {
	if s.err != nil {
		return nil, s.err
	}
	return io.NopCloser(io.NewSectionReader(s.file, 0, s.size)), nil
}

// Close gives the space back.
func (s *spool) Close() error {
	if s == nil || s.file == nil {
		return nil
	}
	return s.file.Close()
}
