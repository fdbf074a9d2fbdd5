package redisnode

import (
	"errors"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/env"
)

// A request that allows it ([env.Command.Native]) uses the conditional commands of newer servers. Which
// a server has follows from the product and the version in the reply to INFO of each handshake, so it
// is found anew on each connection, and without a further round trip. The request is translated before
// go-redis chooses its connection, which may lead to an older server than the latest handshake did.
// And a proxy may reject a command that the server behind it has. So whatever error a native command
// gets, the script follows: a command that was rejected had no effect.

// nativeCommands are the conditional commands of a server. The zero value is a server without.
type nativeCommands struct {
	delete string // DELEX or DELIFEQ; "": neither
	setIf  bool   // SET has IFEQ
}

// nativeOf returns the native commands of the server that sent this reply to INFO.
func nativeOf(info string) (n nativeCommands) {
	if valkey, is := field(info, "valkey_version"); is { // Valkey also states a version of Redis, always 7.2.4
		if atLeast(valkey, 9, 0) {
			n.delete = "delifeq"
		}
		n.setIf = atLeast(valkey, 8, 1)
		return n
	}
	if version, is := field(info, "redis_version"); is && atLeast(version, 8, 4) {
		n = nativeCommands{"delex", true}
	}
	return n
}

// atLeast reports whether a version such as 8.4.0 is major.minor or later. It is false for what is no
// version.
func atLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	x, err1 := strconv.Atoi(first)
	y, err2 := strconv.Atoi(second)
	return errors.Join(err1, err2) == nil && (x > major || x == major && y >= minor)
}

// field returns the value of a field of INFO.
func field(info, name string) (value string, found bool) {
	for line := range strings.Lines(info) {
		if value, found = strings.CutPrefix(strings.TrimSpace(line), name+":"); found {
			return value, true
		}
	}
	return "", false
}

// native returns the query of a command for a node, from 1: of its native command if the command allows
// it and the node's server has it, and otherwise q.
func (n *Nodes) native(node int, cmd env.Command, q *query) *query {
	if !cmd.Native {
		return q
	}
	var native *query
	key := n.prefix + cmd.Key
	switch has := n.servers.native(node); {
	case cmd.Op == env.OpDelete && has.delete == "delex":
		native = single(readBool, "delex", key, "ifeq", cmd.Token) // without the condition it would be DEL
	case cmd.Op == env.OpDelete && has.delete == "delifeq":
		native = single(readBool, "delifeq", key, cmd.Token)
	case cmd.Op == env.OpExtend && has.setIf:
		// Without PX the key would never expire.
		native = n.withRun(single(readSet, "set", key, cmd.Token, "ifeq", cmd.Token, "px", cmd.TTL.Milliseconds()), cmd.Vouched)
	default:
		return q
	}
	native.fallback = q
	return native
}

// native returns the native commands of the server of a node, from 1, as far as it is known.
func (s *servers) native(node int) nativeCommands {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[node-1].native
}

// rejected notes that a node, from 1, has answered a native command with an error. If the server, or a
// proxy, does not know or permit it, this run of the server gets scripts from now on. Other errors, such as
// OOM, pass.
func (s *servers) rejected(node int, err error) {
	if word, _, _ := strings.Cut(err.Error(), " "); word != "ERR" && word != "NOPERM" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[node-1].native = nativeCommands{}
}
