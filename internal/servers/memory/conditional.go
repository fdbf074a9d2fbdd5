package memory

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// Miniredis knows DELEX of Redis 8.4. The other conditional commands are carried out here, after the text
// of their pages: DELIFEQ (Valkey 9.0), and SET with IFEQ (Redis 8.4, Valkey 8.1) or IFNE (Redis 8.4). The
// conditions IFDEQ and IFDNE, which compare digests, are unknown here.

// registerDelIfEq makes a server know DELIFEQ.
func registerDelIfEq(s *server.Server) error {
	return s.Register("DELIFEQ", func(c *server.Peer, _ string, args []string) {
		if len(args) != 2 {
			c.WriteError("ERR wrong number of arguments for 'delifeq' command")
			return
		}
		s.Dispatch(c, []string{"DELEX", args[0], "IFEQ", args[1]})
	})
}

// conditional is a SET with a condition on the present value.
type conditional struct {
	plain  []string // SET without the condition
	equal  bool     // IFEQ, or else IFNE
	value  string
	gets   bool // GET: it replies with the present value
	absurd bool // it has two conditions
}

// optionWords are the words of those options of SET that have more than one.
var optionWords = map[string]int{"EX": 2, "PX": 2, "EXAT": 2, "PXAT": 2, "IFEQ": 2, "IFNE": 2}

// conditionOf returns the condition of a command, whose name is in upper case. It returns false if there is none.
func conditionOf(command string, args []string) (c conditional, has bool) {
	if command != "SET" || len(args) < 4 {
		return c, false
	}
	c.plain = append(c.plain, "SET", args[0], args[1])
	conditions := 0
	for options := args[2:]; len(options) > 0; {
		name := strings.ToUpper(options[0])
		words := min(max(optionWords[name], 1), len(options))
		switch name {
		case "IFEQ", "IFNE":
			has, c.equal = true, name == "IFEQ"
			c.value = options[words-1]
			conditions++
		case "NX", "XX":
			conditions++
			fallthrough
		default:
			c.gets = c.gets || name == "GET"
			c.plain = append(c.plain, options[:words]...)
		}
		options = options[words:]
	}
	c.absurd = conditions > 1
	return c, has
}

// carryOut carries out a SET with a condition for a peer that is in no transaction, while no other command
// is processed.
func (set conditional) carryOut(s *server.Server, c *server.Peer) {
	if set.absurd {
		c.WriteError("ERR syntax error")
		return
	}
	var out bytes.Buffer
	asker := server.NewPeer(bufio.NewWriter(&out))
	asker.Ctx = c.Ctx // its database
	s.Dispatch(asker, []string{"GET", set.plain[1]})
	c.Ctx = asker.Ctx
	asker.Flush()
	present, err := server.ParseReply(bufio.NewReader(&out))
	if err != nil { // of the command: the value is no string
		c.WriteError(err.Error())
		return
	}
	value, exists := present.(string)
	if set.equal && exists && value == set.value || !set.equal && (!exists || value != set.value) {
		s.Dispatch(c, set.plain)
		return
	}
	if set.gets && exists {
		c.WriteBulk(value)
		return
	}
	c.WriteNull()
}
