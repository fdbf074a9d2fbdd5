package redisserver

// Options says which servers to run.
type Options struct {
	Binary      string // path of redis-server; empty: the one in PATH
	Nodes       int    // how many servers
	AppendOnly  bool   // whether a server keeps every acknowledged write over its death, or nothing at all
	Journal     bool   // whether they can be taken back to a time before, see [Server.Restore]
	Rewind      bool   // with Journal: whether their memory can be taken back to a time before, see [Server.Rewind]
	Clocks      bool   // whether their wall clocks can be set, see [Server.SetClock]
	EverySecond bool   // with AppendOnly: whether its file is synced each second, and not at every write
	Torn        bool   // with AppendOnly: whether its file can be torn, see [Server.LosePower]
}
