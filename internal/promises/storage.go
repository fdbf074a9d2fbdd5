package promises

// Storage says where a lock is stored.
type Storage uint8

// The places where a lock is stored.
const (
	OnMajority Storage = iota + 1 // of the nodes
	OnOneNode
	InStore
)

// StorageOf returns where a kind of lock is stored; 0 for an unknown kind.
func StorageOf(kind string) Storage { return kinds[kind].storedOn }
