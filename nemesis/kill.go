package nemesis

import "fmt"

// Kill ends a client for good, in the middle of whatever it does.
type Kill struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "kill".
func (*Kill) Kind() Kind { return "kill" }

func (k *Kill) String() string { return fmt.Sprintf("client %d dies", k.Client) }

func (k *Kill) validate(s Setting) error {
	return field("client", oneOf("client", k.Client, s.Clients))
}

func (k *Kill) targets(Setting) []string {
	return []string{fmt.Sprintf("the life of client %d", k.Client)}
}

func (*Kill) ending() ending { return ending{none: "a client that has died does not come back"} }

func (*Kill) random(d *dice) Action { return &Kill{Client: d.client()} }
