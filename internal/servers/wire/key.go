package wire

import (
	"bytes"
	"strconv"
	"strings"
)

// keyAt is where the commands of a lock have their key, counted from the name of
// the command.
var keyAt = map[string]int{
	"SET": 1, "SETNX": 1, "GET": 1, "DEL": 1, "INCR": 1, "PTTL": 1, "PEXPIRE": 1,
	"EVAL": 3, "EVALSHA": 3,
}

// keyOf returns the key of the first command with one in a piece of what a client
// sends, "" if there is none. A client sends a command, or some in a row, in one
// piece; of one that does not begin with a command the key is unknown.
func keyOf(piece []byte) string {
	for {
		words, rest, ok := command(piece)
		if !ok {
			return ""
		}
		if at := keyAt[strings.ToUpper(words[0])]; at > 0 && at < len(words) {
			return words[at]
		}
		piece = rest
	}
}

// command reads a command as Redis' protocol has it: *2 $3 GET $1 k, each with
// \r\n behind.
func command(piece []byte) (words []string, rest []byte, ok bool) {
	n, rest, ok := head(piece, '*')
	if !ok || n < 1 {
		return nil, nil, false
	}
	for range n {
		var size int
		size, rest, ok = head(rest, '$')
		if !ok || size > len(rest)-2 {
			return nil, nil, false
		}
		words = append(words, string(rest[:size]))
		rest = rest[size+2:]
	}
	return words, rest, true
}

// head reads a line with a number behind a mark.
func head(piece []byte, mark byte) (n int, rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(piece, []byte("\r\n"))
	if !ok || len(line) == 0 || line[0] != mark {
		return 0, nil, false
	}
	n, err := strconv.Atoi(string(line[1:]))
	return n, rest, err == nil && n >= 0
}
