// Package model holds sequential specifications: how a lock or a guarded resource would behave if
// its operations ran one after another. They are data for porcupine, structs of pure functions, and
// serve as the slow and simple reference for faster checkers.
//
// Each model documents how a history becomes operations. The package knows neither locks nor
// backends nor checkers, and shares no code with what it specifies.
package model
