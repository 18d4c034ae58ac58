package program

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	statusMagic = "TGSTATE1"
	statusSize  = 4096
	statusName  = 20
	statusMain  = 1000
	statusPath  = 1024
)

// Counts are what the agent of a run counted.
type Counts struct {
	// JVMs is the number of JVMs that read the rewritten classes.
	JVMs int
	// Programs is the number of them that were started to run a program, not to print their version.
	Programs int
	// Replaced is the number of classes that were replaced when a JVM loaded them.
	Replaced int
	// Differing is the number of classes with the name of a rewritten class whose class file is not its original.
	Differing int
	// First is the first class of these.
	First string
}

// NewStatus makes the status file of a run, in the system's directory for temporary files. classes is the file of
// rewritten classes, which the agent reads. The caller removes the file.
func NewStatus(classes string) (file string, err error) {
	path, err := filepath.Abs(classes)
	if err != nil {
		return "", err
	}
	if len(path) > statusSize-statusPath-2 {
		return "", fmt.Errorf("%s: the path is too long; name another directory by --cache", path)
	}
	data := make([]byte, statusSize)
	copy(data, statusMagic)
	binary.BigEndian.PutUint16(data[statusPath:], uint16(len(path)))
	copy(data[statusPath+2:], path)
	f, err := os.CreateTemp("", "tracegen-status-")
	if err != nil {
		return "", err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Close()
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// ReadStatus returns what the agent wrote into the status file.
func ReadStatus(file string) (Counts, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Counts{}, err
	}
	if len(data) != statusSize || string(data[:len(statusMagic)]) != statusMagic {
		return Counts{}, fmt.Errorf("%s: not a status file of tracegen", file)
	}
	number := func(at int) int { return int(binary.BigEndian.Uint32(data[at:])) }
	length := min(int(binary.BigEndian.Uint16(data[statusName:])), statusMain-statusName-2)
	name := string(data[statusName+2 : statusName+2+length])
	return Counts{JVMs: number(8), Programs: number(statusMain), Replaced: number(12), Differing: number(16),
		First: strings.ReplaceAll(name, "/", ".")}, nil
}
