package nemesis

import "fmt"

// Kill ends a client for good, in the middle of whatever it does.
type Kill struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "kill".
func (*Kill) Kind() Kind { return "kill" }

func (*Kill) about() string { return "a client dies" }

func (k *Kill) String() string { return fmt.Sprintf("client %d dies", k.Client) }

func (k *Kill) claims(Setting) []string {
	return []string{fmt.Sprintf("the life of client %d", k.Client)}
}

// Effects implements [Action].
func (k *Kill) Effects(Setting) Effects { return Effects{Does: EndsClient, Client: k.Client} }

func (*Kill) ending() ending { return ending{forbidden: "a client that has died does not come back"} }

func (*Kill) random(g *paramGenerator) Action { return &Kill{Client: g.client()} }

// few implements enumerable.
func (*Kill) few(p fewParams) []Fault {
	return p.eachClient(func(client int) []Fault { return []Fault{{Action: &Kill{Client: client}}} })
}
