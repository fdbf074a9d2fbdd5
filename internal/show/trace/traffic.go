package trace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Sent is a request to nodes. Rounds of requests are numbered from 1.
type Sent struct {
	Client, Round int
	To            env.NodeSet
	Command       env.Command
}

func (s Sent) tell(t *describer) (Participant, string) {
	t.rounds[s.Round] = &round{command: s.Command, asked: s.To}
	return client(s.Client), fmt.Sprintf("→ %s: %s", Nodes(s.To), commandWords(s.Command))
}

// commandFormats has the text of each operation. Its verbs are the token and the TTL.
var commandFormats = [env.Ops]string{
	env.OpSet: "set %s, to live %v", env.OpDelete: "delete %s", env.OpExtend: "let %s live %v longer",
	env.OpCount: "what is the counter?", env.OpRaise: "raise the counter to %d", env.OpVouch: "run %s was watched for %v",
	env.OpGet: "whose key is it?", env.OpPut: "overwrite with %s", env.OpAdd: "set %s, for ever",
	env.OpExpire: "let the key live %[2]v", env.OpRemove: "delete, whoever's it is", env.OpIncrement: "count one up",
}

func commandWords(c env.Command) string {
	token := textfmt.Token(c.Token)
	switch c.Op {
	case env.OpSet, env.OpExtend, env.OpVouch, env.OpExpire:
		return fmt.Sprintf(commandFormats[c.Op], token, c.TTL)
	case env.OpDelete, env.OpPut, env.OpAdd:
		return fmt.Sprintf(commandFormats[c.Op], token)
	case env.OpRaise:
		return fmt.Sprintf(commandFormats[c.Op], c.Count)
	}
	return commandFormats[c.Op]
}

// Nodes names nodes, as in "nodes 1-3, 5".
func Nodes(set env.NodeSet) string {
	list := set.List()
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return textfmt.Plural(len(list), "node") + " " + strings.Join(parts, ", ")
}

// Replied is a reply that a client has received.
type Replied struct {
	Client, Round int
	Reply         env.Reply
	Counted       history.Outcome // as what it was counted; 0: nobody did
}

func (r *Replied) tell(t *describer) (Participant, string) {
	asked := t.rounds[r.Round]
	text := fmt.Sprintf("← %s: %s", node(r.Reply.Node), answerWords(asked.command.Op, r.Reply))
	if op := asked.command.Op; votedOn[op] {
		text += t.vote(r, asked)
	}
	return client(r.Client), text
}

// vote returns what a reply is worth.
func (t *describer) vote(r *Replied, asked *round) string {
	switch {
	case r.Counted == 0 && asked.command.Op == env.OpDelete: // of what was given up
		return ""
	case r.Counted == 0:
		return ", too late to count"
	case r.Reply.Answer == env.Yes && r.Counted != history.OK:
		return ", which does not count: the node is in quarantine"
	case r.Counted != history.OK:
		return ""
	}
	voting := t.header.Electorate()
	asked.yes += voting.Count(1 << (r.Reply.Node - 1))
	return fmt.Sprintf(", %d of the %s needed", asked.yes, textfmt.Count(voting.Needed(), "vote"))
}

// votedOn has the operations whose replies are votes.
var votedOn = [env.Ops]bool{env.OpSet: true, env.OpExtend: true, env.OpDelete: true, env.OpRaise: true}

// refusals says why a node declines.
var refusals = [env.Ops]string{
	env.OpSet: "somebody's key is there", env.OpAdd: "somebody's key is there",
	env.OpDelete: "the key is not there", env.OpExtend: "the key is not there", env.OpExpire: "no key is there",
	env.OpGet: "no key is there", env.OpRemove: "no key is there", env.OpRaise: "its counter is higher",
}

func answerWords(op env.Op, r env.Reply) string {
	switch r.Answer {
	case env.No:
		if why := refusals[op]; why != "" {
			return "no, " + why
		}
	case env.Yes:
		switch op {
		case env.OpGet:
			return "it is " + textfmt.Token(r.Token)
		case env.OpCount, env.OpIncrement:
			return fmt.Sprintf("the counter is %d", r.Count)
		}
	case env.Lost:
		return "no answer" + because(r.Err)
	case env.Failed:
		return "an error" + because(r.Err)
	}
	return r.Answer.String()
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ", " + strings.TrimPrefix(err.Error(), "no answer, ")
}

// Asked is a request to the store, numbered as a round.
type Asked struct {
	Client, Round int
	Request       env.StoreRequest
}

func (a Asked) tell(t *describer) (Participant, string) {
	t.requests[a.Round] = a.Request
	return client(a.Client), "→ store: " + requestWords(a.Request)
}

func requestWords(r env.StoreRequest) string {
	text := []string{r.Op.String()}
	if r.Op == env.StoreOpen && r.Kind != env.SessionLease {
		text = append(text, "a "+r.Kind.String())
	}
	if r.Key != "" {
		text = append(text, strconv.Quote(textfmt.Token(r.Key)))
	}
	if (r.Op == env.StoreCreate || r.Op == env.StoreUpdate) && r.Value != "" {
		text = append(text, "with "+valueWords(r.Value))
	}
	if r.Session != 0 {
		text = append(text, fmt.Sprintf("in session %d", r.Session))
	}
	if r.Op == env.StoreRenew || r.Op == env.StoreUpdate {
		text = append(text, fmt.Sprintf("at revision %d", r.Revision))
	}
	if r.TTL != 0 {
		text = append(text, fmt.Sprintf("for %v", r.TTL))
	}
	return strings.Join(text, " ")
}

// valueWords is the value of an entry: a token, or a record that begins with one.
func valueWords(value string) string {
	token, rest, is := strings.Cut(value, " ")
	if !is {
		return textfmt.Token(value)
	}
	if token != "" {
		token = textfmt.Token(token)
	}
	return strconv.Quote(token + " " + rest)
}

// Answered is the reply to a request to the store, or its error.
type Answered struct {
	Client, Round int
	Reply         env.StoreReply
	Err           error // Reply says nothing then
}

func (a Answered) tell(t *describer) (Participant, string) {
	op := t.requests[a.Round].Op
	delete(t.requests, a.Round)
	switch {
	case a.Err != nil:
		return client(a.Client), fmt.Sprintf("← store: %v: %v", op, a.Err)
	case !a.Reply.Done:
		return client(a.Client), fmt.Sprintf("← store: %v: declined", op)
	}
	text := "done"
	switch {
	case op == env.StoreOpen:
		text = fmt.Sprintf("session %d", a.Reply.Session)
	case op == env.StoreList:
		text = textfmt.Count(len(a.Reply.Entries), "entry")
	case (op == env.StoreCreate || op == env.StoreRenew || op == env.StoreUpdate) && len(a.Reply.Entries) == 1:
		text = fmt.Sprintf("%q, revision %d", textfmt.Token(a.Reply.Entries[0].Key), a.Reply.Entries[0].Revision)
	}
	return client(a.Client), fmt.Sprintf("← store: %v: %s", op, text)
}
