package redisnode

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// maxReply is the longest text, in bytes, and the longest array that is read in a
// handshake. INFO server takes about 1 KB; the paths in it may be longer.
const maxReply = 1 << 16

// readReply appends one whole reply in Redis' second protocol, as it came.
func readReply(r *bufio.Reader, reply []byte) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	reply = append(reply, line...)
	kind, rest := line[0], bytes.TrimRight(line[1:], "\r\n")
	switch kind {
	case '+', '-', ':':
		return reply, nil
	case '$', '*':
		n, err := strconv.Atoi(string(rest))
		if err != nil || n > maxReply {
			break
		}
		if kind == '$' {
			return readText(r, reply, n)
		}
		for ; n > 0 && err == nil; n-- {
			reply, err = readReply(r, reply)
		}
		return reply, err
	}
	return nil, fmt.Errorf("%q is no reply of Redis", line)
}

// readText appends n bytes and the end of their line; a text that is null, with -1
// bytes, has none.
func readText(r *bufio.Reader, reply []byte, n int) ([]byte, error) {
	if n < 0 {
		return reply, nil
	}
	text := make([]byte, n+len("\r\n"))
	_, err := io.ReadFull(r, text)
	return append(reply, text...), err
}
