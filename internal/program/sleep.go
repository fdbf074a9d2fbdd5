package program

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"runtime"
)

// libfaketime 0.9.10 makes each clock_nanosleep until an instant of the monotonic clock fail, which is how
// Python 3.11 and Rust sleep. So a library is loaded before it that has this function alone, and calls the
// kernel.
const sleepName = "clock_nanosleep"

// sleepMachine is the machine of the library, and the code of the function: the system call, whose error is
// returned as a number above 0.
type sleepMachine struct {
	machine elf.Machine
	code    []byte
}

var sleepMachines = map[string]sleepMachine{
	"amd64": {elf.EM_X86_64, []byte{
		0x49, 0x89, 0xca, // mov r10, rcx
		0xb8, 230, 0, 0, 0, // mov eax, 230
		0x0f, 0x05, // syscall
		0xf7, 0xd8, // neg eax
		0xc3, // ret
	}},
	"arm64": {elf.EM_AARCH64, []byte{
		0x68, 0x0e, 0x80, 0xd2, // mov x8, 115
		0x01, 0x00, 0x00, 0xd4, // svc 0
		0xe0, 0x03, 0x00, 0x4b, // neg w0, w0
		0xc0, 0x03, 0x5f, 0xd6, // ret
	}},
}

// segment is the distance of the library's two segments, at least a page of any machine: what is read and run,
// and the table that the loader changes.
const segment = 1 << 16

// sleepLibrary returns the shared library.
func sleepLibrary() ([]byte, error) {
	m, known := sleepMachines[runtime.GOARCH]
	if !known {
		return nil, errors.New("clocks of programs can be set on amd64 and arm64 only")
	}
	const (
		headers = 64 + 4*56
		symbols = headers
		hash    = symbols + 2*elf.Sym64Size
		names   = hash + 5*4
	)
	text := "\x00" + sleepName + "\x00"
	code := (names + len(text) + 15) &^ 15
	dynamic := []elf.Dyn64{
		{Tag: int64(elf.DT_HASH), Val: hash}, {Tag: int64(elf.DT_SYMTAB), Val: symbols}, {Tag: int64(elf.DT_STRTAB), Val: names},
		{Tag: int64(elf.DT_STRSZ), Val: uint64(len(text))}, {Tag: int64(elf.DT_SYMENT), Val: elf.Sym64Size}, {},
	}
	tableSize := uint64(binary.Size(dynamic))
	readSize := uint64(code + len(m.code))
	var file bytes.Buffer
	write := func(parts ...any) {
		for _, p := range parts {
			_ = binary.Write(&file, binary.LittleEndian, p) // a buffer accepts everything
		}
	}
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	write(
		elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(m.machine), Version: uint32(elf.EV_CURRENT), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 4, Shentsize: 64},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: readSize, Memsz: readSize, Align: segment},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: segment, Vaddr: segment, Paddr: segment, Filesz: tableSize, Memsz: tableSize, Align: segment},
		elf.Prog64{Type: uint32(elf.PT_DYNAMIC), Flags: uint32(elf.PF_R | elf.PF_W), Off: segment, Vaddr: segment, Paddr: segment, Filesz: tableSize, Memsz: tableSize, Align: 8},
		elf.Prog64{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W), Align: 16},
		elf.Sym64{}, elf.Sym64{Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: uint64(code), Size: uint64(len(m.code))},
		[]uint32{1, 2, 1, 0, 0}, // one bucket, which has symbol 1; the chain ends there
		[]byte(text),
	)
	file.Write(make([]byte, code-file.Len()))
	file.Write(m.code)
	file.Write(make([]byte, segment-file.Len()))
	write(dynamic)
	return file.Bytes(), nil
}
