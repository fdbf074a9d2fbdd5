package memory

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// interpreter runs the scripts of a server that it knows. Miniredis makes an interpreter with all its
// libraries for each call, which takes longer than everything else that a node does for a lock; Redis
// has one for all calls. Miniredis itself runs each script the first time, any script that needs more
// than the plain libraries, and those of transactions.
type interpreter struct {
	state  *lua.LState
	server *server.Server
	known  map[string]*lua.LFunction // by SHA1

	nested any // what miniredis knows of the commands of the current script
	out    bytes.Buffer
}

func newInterpreter(s *server.Server) *interpreter {
	i := &interpreter{state: lua.NewState(lua.Options{SkipOpenLibs: true}), server: s, known: map[string]*lua.LFunction{}}
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		i.state.Push(i.state.NewFunction(open))
		i.state.Call(0, 0)
	}
	redis := i.state.NewTable()
	redis.RawSetString("call", i.state.NewFunction(i.call))
	redis.RawSetString("pcall", i.state.NewFunction(i.pcall))
	i.state.SetGlobal("redis", redis)
	protect := i.state.NewTable()
	protect.RawSetString("__newindex", i.state.NewFunction(refuse("Script attempted to create global variable '%s'")))
	protect.RawSetString("__index", i.state.NewFunction(refuse("Script attempted to access nonexistent global variable '%s'")))
	i.state.G.Global.Metatable = protect
	return i
}

// refuse returns a function that fails with a text about a variable, its second argument.
func refuse(text string) lua.LGFunction {
	return func(l *lua.LState) int {
		l.Error(lua.LString(fmt.Sprintf(text, l.ToStringMeta(l.Get(2)).String())), 2)
		return 0
	}
}

// special matches what a script may use that this interpreter does not have, or that lasts beyond the
// script.
var special = regexp.MustCompile(`\b(_G|getfenv|setfenv|setmetatable|getmetatable|rawset|rawget|load|loadstring|loadfile|dofile|require|module|newproxy|collectgarbage|coroutine|cjson|cmsgpack|struct|bit|json|server|os|io|debug|package|print|(?i:select)|random|randomseed)\b`)

// ofRedis matches the functions of Redis that a script uses.
var ofRedis = regexp.MustCompile(`\bredis\b(\.(call|pcall)\()?`)

// plain reports whether a script uses only what this interpreter has.
func plain(script string) bool {
	own := func(use string) bool { return strings.HasSuffix(use, "(") }
	return !special.MatchString(script) && !slices.ContainsFunc(ofRedis.FindAllString(script, -1), func(use string) bool { return !own(use) })
}

// learn makes a script known that miniredis has run or loaded.
func (i *interpreter) learn(script string) {
	if !plain(script) {
		return
	}
	chunk, err := parse.Parse(strings.NewReader(script), "<string>")
	if err != nil {
		return
	}
	if proto, err := lua.Compile(chunk, ""); err == nil {
		i.known[nameOf(script)] = i.state.NewFunctionFromProto(proto)
	}
}

// nameOf returns the name by which EVALSHA calls a script.
func nameOf(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// forget makes all scripts unknown.
func (i *interpreter) forget() { clear(i.known) }

// find returns the function of an EVAL or EVALSHA, its keys and arguments. It is nil if miniredis has to
// run it.
func (i *interpreter) find(words []string) (f *lua.LFunction, keys, args []string) {
	if len(words) < 3 {
		return nil, nil, nil
	}
	name := words[1]
	if words[0] == "EVAL" {
		name = nameOf(name)
	}
	n, err := strconv.Atoi(words[2])
	if err != nil || n < 0 || n > len(words)-3 {
		return nil, nil, nil
	}
	return i.known[name], words[3 : 3+n], words[3+n:]
}

// run runs a script, and writes its reply to a peer.
func (i *interpreter) run(f *lua.LFunction, keys, args []string, nested any, c *server.Peer) {
	i.nested = nested
	i.state.G.Global.RawSetString("KEYS", i.table(keys))
	i.state.G.Global.RawSetString("ARGV", i.table(args))
	i.state.Push(f)
	err := i.state.PCall(0, 1, nil)
	if err != nil {
		i.state.SetTop(0)
		c.WriteError("ERR Error compiling script (new function): " + err.Error())
		return
	}
	value := i.state.Get(-1)
	i.state.SetTop(0)
	writeValue(c, value)
}

func (i *interpreter) table(words []string) *lua.LTable {
	t := i.state.CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(lua.LString(w))
	}
	return t
}

// call is redis.call, which fails with the error of the command.
func (i *interpreter) call(l *lua.LState) int {
	reply, err := i.ask(l)
	if err != nil {
		l.Error(lua.LString(err.Error()), 1)
	}
	l.Push(i.value(reply))
	return 1
}

// pcall is redis.pcall, which returns the error of the command.
func (i *interpreter) pcall(l *lua.LState) int {
	reply, err := i.ask(l)
	if err != nil {
		t := l.NewTable()
		t.RawSetString("err", lua.LString(err.Error()))
		l.Push(t)
		return 1
	}
	l.Push(i.value(reply))
	return 1
}

// ask makes the server process the command that is on the stack.
func (i *interpreter) ask(l *lua.LState) (reply any, err error) {
	var words []string
	for at := 1; at <= l.GetTop(); at++ {
		switch w := l.Get(at).(type) {
		case lua.LNumber:
			words = append(words, w.String())
		case lua.LString:
			words = append(words, string(w))
		default:
			return nil, errors.New("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	if len(words) == 0 {
		return nil, errors.New("ERR Please specify at least one argument for this redis.call() call")
	}
	i.out.Reset()
	w := bufio.NewWriterSize(&i.out, 64)
	peer := server.NewPeer(w)
	peer.Ctx = i.nested
	i.server.Dispatch(peer, words)
	_ = w.Flush() // a buffer has no errors
	return server.ParseReply(bufio.NewReaderSize(&i.out, 64))
}

// value returns a reply as a value of Lua.
func (i *interpreter) value(reply any) lua.LValue {
	switch r := reply.(type) {
	case nil:
		return lua.LFalse
	case int:
		return lua.LNumber(r)
	case string:
		return lua.LString(r)
	case server.Simple:
		t := i.state.NewTable()
		t.RawSetString("ok", lua.LString(r))
		return t
	case []any:
		t := i.state.CreateTable(len(r), 0)
		for _, one := range r {
			t.Append(i.value(one))
		}
		return t
	}
	panic(fmt.Sprintf("memory: a command of a script was answered with a %T", reply))
}

// writeValue writes a value of Lua as a reply.
func writeValue(c *server.Peer, value lua.LValue) {
	switch v := value.(type) {
	case lua.LBool:
		if v {
			c.WriteInt(1)
			return
		}
		c.WriteNull()
	case lua.LNumber:
		c.WriteInt(int(v))
	case lua.LString:
		c.WriteBulk(string(v))
	case *lua.LTable:
		writeTable(c, v)
	default:
		c.WriteNull()
	}
}

// writeTable writes a table: an error, a status, or the elements before the first nil.
func writeTable(c *server.Peer, t *lua.LTable) {
	if text := t.RawGetString("err"); text != lua.LNil {
		c.WriteError(text.String())
		return
	}
	if text := t.RawGetString("ok"); text != lua.LNil {
		c.WriteInline(text.String())
		return
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	c.WriteLen(n)
	for at := range n {
		writeValue(c, t.RawGetInt(at+1))
	}
}
