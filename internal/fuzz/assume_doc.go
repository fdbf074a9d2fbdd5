// Package assume says what may be taken for granted of the world in which a lock
// runs, and what each lock promises under which assumptions.
//
// A promised property that breaks inside the assumptions is a defect of the lock.
// One that breaks outside them is a limit, and no fault of whoever wrote it.
package fuzz
