package atomicfile

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// IDOf returns no ID: what lists a directory does not say it on this system.
func IDOf(fs.FileInfo) ID { return ID{} }

// IDAt returns the ID of the file at path, all links followed. It is zero if the file system has none, or the file
// cannot be opened.
func IDAt(path string, _ fs.FileInfo) ID {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return ID{}
	}
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	// Without the flag, directories cannot be opened.
	h, err := windows.CreateFile(name, 0, shared, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return ID{}
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return ID{}
	}
	index := uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
	return ID{Device: uint64(info.VolumeSerialNumber), Inode: index}
}
