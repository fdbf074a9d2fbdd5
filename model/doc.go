// Package model holds sequential specifications: what a lock or a guarded
// resource would do if its operations ran one after another. They are data for
// porcupine, structs of pure functions, and serve as the slow and simple
// reference that a faster judge must agree with.
//
// A specification says nothing of how a history is turned into operations;
// that contract stands with each model. The package knows neither a lock nor a
// backend nor a judge, and shares no code with what it specifies.
package model
