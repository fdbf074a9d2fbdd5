package keywatch

import (
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/servers/resp"
)

// change is one change of one key.
type change struct {
	what    what
	db      int
	key     string
	value   string // of a key that is set
	expiry  int64  // in milliseconds of the server's wall clock; 0: it is not known; or noExpiry
	evicted bool   // the deletion was noted as an eviction: see [EvictionChannel]
	offset  int64  // up to which the stream contains it
}

type what uint8

const (
	set what = iota + 1
	extended
	gone
	flushed // all keys of the database; of all databases, if db is everyDB
)

// noExpiry is the expiry of a key that has none.
const noExpiry = -1

// everyDB stands for all databases.
const everyDB = -1

// EvictionChannel is the channel to which a script that deletes a key in place of an eviction
// publishes the key's name just before. The server passes it on in the stream.
const EvictionChannel = "lockstorm-evicts"

// parser reads the commands of a replication stream.
type parser struct {
	db      int
	evicted string // the key of the last note
}

// command returns what a command changes. It ignores commands that do not create, delete or expire
// keys that a lock can be in.
func (p *parser) command(reply any) ([]change, error) {
	list, _ := reply.([]any)
	words := make([]string, len(list))
	for i := range list {
		word, is := list[i].(string)
		if !is {
			list = nil
			break
		}
		words[i] = word
	}
	if len(list) == 0 {
		return nil, &resp.UnexpectedError{Text: "no command in a replication stream"}
	}
	name, args := strings.ToUpper(words[0]), words[1:]
	changes := p.changes(name, args)
	for i := range changes {
		if changes[i].db != everyDB {
			changes[i].db = p.db
		}
	}
	return changes, nil
}

// arity is the smallest number of arguments of the commands that the parser reads.
var arity = map[string]int{
	"SELECT": 1, "PUBLISH": 2, "SET": 2, "SETNX": 2, "GETSET": 2, "SETEX": 3, "PSETEX": 3, "MSET": 2, "MSETNX": 2,
	"DEL": 1, "UNLINK": 1, "DELEX": 1, "DELIFEQ": 1, "GETDEL": 1, "RENAME": 2, "RENAMENX": 2, "MOVE": 2,
	"PEXPIREAT": 2, "EXPIREAT": 2, "PEXPIRE": 2, "EXPIRE": 2, "PERSIST": 1, "GETEX": 2, "FLUSHALL": 0, "FLUSHDB": 0,
}

func (p *parser) changes(name string, args []string) []change {
	if least, known := arity[name]; !known || len(args) < least {
		return nil
	}
	switch name {
	case "SELECT":
		p.db, _ = strconv.Atoi(args[0])
	case "PUBLISH":
		if args[0] == EvictionChannel {
			p.evicted = args[1]
		}
	case "SET":
		return []change{{what: set, key: args[0], value: args[1], expiry: expiryOf(args[2:])}}
	case "SETNX", "GETSET":
		return []change{{what: set, key: args[0], value: args[1], expiry: noExpiry}}
	case "SETEX", "PSETEX":
		return []change{{what: set, key: args[0], value: args[2]}}
	case "MSET", "MSETNX":
		var all []change
		for i := 0; i+1 < len(args); i += 2 {
			all = append(all, change{what: set, key: args[i], value: args[i+1], expiry: noExpiry})
		}
		return all
	case "DEL", "UNLINK", "GETDEL":
		return p.deleted(args)
	case "RENAME", "RENAMENX", "MOVE", "DELEX", "DELIFEQ": // a server passes on what has had an effect
		return p.deleted(args[:1])
	case "FLUSHALL":
		return []change{{what: flushed, db: everyDB}}
	case "FLUSHDB":
		return []change{{what: flushed}}
	default: // an expiry
		c := change{what: extended, key: args[0]}
		switch name {
		case "PEXPIREAT":
			c.expiry, _ = strconv.ParseInt(args[1], 10, 64)
		case "PERSIST":
			c.expiry = noExpiry
		}
		return []change{c}
	}
	return nil
}

func (p *parser) deleted(keys []string) []change {
	all := make([]change, len(keys))
	for i, key := range keys {
		all[i] = change{what: gone, key: key, evicted: key == p.evicted && p.evicted != ""}
	}
	p.evicted = ""
	return all
}

// expiryOf returns the expiry that the options of SET state by the server's clock. Older servers
// than Redis 7 pass on how long the key is to live.
func expiryOf(options []string) int64 {
	for i, option := range options {
		switch strings.ToUpper(option) {
		case "PXAT":
			if i+1 < len(options) {
				at, _ := strconv.ParseInt(options[i+1], 10, 64)
				return at
			}
		case "PX", "EX", "EXAT", "KEEPTTL":
			return 0
		}
	}
	return noExpiry
}
