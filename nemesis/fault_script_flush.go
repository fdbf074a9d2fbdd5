package nemesis

import "fmt"

// ScriptFlush makes a node forget its scripts, as SCRIPT FLUSH or a restart does.
// The next compare-and-delete and the next compare-and-extend each take one more
// round trip, which loads the script again.
type ScriptFlush struct {
	Node int `yaml:"node" want:"1.. or all"`
}

// Kind is "script-flush".
func (*ScriptFlush) Kind() Kind { return "script-flush" }

func (*ScriptFlush) about() string { return "a node's script cache is emptied, as by SCRIPT FLUSH" }

func (f *ScriptFlush) String() string { return fmt.Sprintf("%s forgets its scripts", nodeName(f.Node)) }

func (f *ScriptFlush) node() *int { return &f.Node }

func (f *ScriptFlush) claims(Setting) []string {
	return []string{fmt.Sprintf("the scripts of node %d", f.Node)}
}

// Effects implements [Action].
func (*ScriptFlush) Effects(Setting) Effects { return Effects{} }

func (*ScriptFlush) ending() ending {
	return ending{forbidden: "scripts are loaded again when they are used next"}
}

func (*ScriptFlush) random(g *paramGenerator) Action { return &ScriptFlush{Node: g.node()} }
