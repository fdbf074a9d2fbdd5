package trace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/words"
)

func clientName(n int) string { return "client " + strconv.Itoa(n) }
func nodeName(n int) string   { return "node " + strconv.Itoa(n) }

// sent is a request to nodes.
type sent struct {
	client, round int
	to            env.NodeSet
	command       env.Command
}

func (s sent) tell(t *teller) (string, string) {
	t.rounds[s.round] = &round{command: s.command, asked: s.to}
	return clientName(s.client), fmt.Sprintf("→ %s: %s", nodesName(s.to), commandWords(s.command))
}

// asks says what each operation asks, of the token and of the time to live where they
// are verbs of it.
var asks = [env.Ops]string{
	env.OpSet: "set %s, to live %v", env.OpDelete: "delete %s", env.OpExtend: "let %s live %v longer",
	env.OpCount: "what is the counter?", env.OpRaise: "raise the counter to %d", env.OpVouch: "run %s was watched for %v",
	env.OpGet: "whose key is it?", env.OpPut: "overwrite with %s", env.OpAdd: "set %s, for ever",
	env.OpExpire: "let the key live %[2]v", env.OpRemove: "delete, whoever's it is", env.OpIncrement: "count one up",
}

func commandWords(c env.Command) string {
	token := words.Token(c.Token)
	switch c.Op {
	case env.OpSet, env.OpExtend, env.OpVouch, env.OpExpire:
		return fmt.Sprintf(asks[c.Op], token, c.TTL)
	case env.OpDelete, env.OpPut, env.OpAdd:
		return fmt.Sprintf(asks[c.Op], token)
	case env.OpRaise:
		return fmt.Sprintf(asks[c.Op], c.Count)
	}
	return asks[c.Op]
}

// nodesName names nodes, as in "nodes 1-3, 5".
func nodesName(set env.NodeSet) string {
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
	return words.Plural(len(list), "node") + " " + strings.Join(parts, ", ")
}

// round is what has come of a request.
type round struct {
	command env.Command
	asked   env.NodeSet
	yes     int // votes
}

// replied is an answer that a client has taken.
type replied struct {
	client, round int
	reply         env.Reply
	counted       history.Outcome // as what it was counted; 0: nobody did
}

func (r *replied) tell(t *teller) (string, string) {
	asked := t.rounds[r.round]
	text := fmt.Sprintf("← %s: %s", nodeName(r.reply.Node), answerWords(asked.command.Op, r.reply))
	if op := asked.command.Op; votedOn[op] {
		text += t.vote(r, asked)
	}
	return clientName(r.client), text
}

// vote says what an answer is worth.
func (t *teller) vote(r *replied, asked *round) string {
	switch {
	case r.counted == 0 && asked.command.Op == env.OpDelete: // of what was given up
		return ""
	case r.counted == 0:
		return ", too late to count"
	case r.reply.Answer == env.Yes && r.counted != history.OK:
		return ", which does not count: the node is in quarantine"
	case r.counted != history.OK:
		return ""
	}
	voting := t.header.Electorate()
	asked.yes += voting.Count(1 << (r.reply.Node - 1))
	return fmt.Sprintf(", %d of the %s needed", asked.yes, words.Count(voting.Needed(), "vote"))
}

// votedOn are the operations of which the answers are votes.
var votedOn = [env.Ops]bool{env.OpSet: true, env.OpExtend: true, env.OpDelete: true, env.OpRaise: true}

// refusals say why a node says no.
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
			return "it is " + words.Token(r.Token)
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

// asked is a request to the store.
type asked struct {
	client, round int
	request       env.StoreRequest
}

func (a asked) tell(t *teller) (string, string) {
	t.requests[a.round] = a.request
	return clientName(a.client), "→ store: " + requestWords(a.request)
}

func requestWords(r env.StoreRequest) string {
	text := []string{r.Op.String()}
	if r.Key != "" {
		text = append(text, strconv.Quote(words.Token(r.Key)))
	}
	if r.Op == env.StoreCreate && r.Value != "" {
		text = append(text, "with "+words.Token(r.Value))
	}
	if r.Session != 0 {
		text = append(text, fmt.Sprintf("in session %d", r.Session))
	}
	if r.TTL != 0 {
		text = append(text, fmt.Sprintf("for %v", r.TTL))
	}
	return strings.Join(text, " ")
}

// answered is what a client has learnt of its request to the store.
type answered struct {
	client, round int
	reply         env.StoreReply
	err           error
}

func (a answered) tell(t *teller) (string, string) {
	op := t.requests[a.round].Op
	delete(t.requests, a.round)
	switch {
	case a.err != nil:
		return clientName(a.client), fmt.Sprintf("← store: %v: %v", op, a.err)
	case !a.reply.Done:
		return clientName(a.client), fmt.Sprintf("← store: %v: declined", op)
	}
	text := "done"
	switch {
	case op == env.StoreOpen:
		text = fmt.Sprintf("session %d", a.reply.Session)
	case op == env.StoreList:
		text = words.Count(len(a.reply.Entries), "entry")
	case op == env.StoreCreate && len(a.reply.Entries) == 1:
		text = fmt.Sprintf("%q, revision %d", words.Token(a.reply.Entries[0].Key), a.reply.Entries[0].Revision)
	}
	return clientName(a.client), fmt.Sprintf("← store: %v: %s", op, text)
}
