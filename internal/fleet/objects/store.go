package objects

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Store is a set of named objects. Names have the form of paths with slashes. It is safe for several goroutines.
type Store interface {
	// List returns the objects whose names begin with the prefix. A bucket returns them in the order of their names; the
	// order of a directory may differ where a name begins with another. The sequence ends at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Read returns the content of an object, from its begin; of a directory it is an [*os.File]. The error wraps
	// [fs.ErrNotExist] if there is none.
	Read(ctx context.Context, name string) (io.ReadCloser, error)
	// Put writes or replaces an object.
	Put(ctx context.Context, name string, data []byte) error
	// PutFile makes a local file the object of that name. The file is gone if no error is returned.
	PutFile(ctx context.Context, name, file string) error
	// Remove removes an object; it is no error if there is none.
	Remove(ctx context.Context, name string) error
}

// Object is what a list says of an object.
type Object struct {
	// Name is the object's, Size its number of bytes, Modified when it was written.
	Name     string
	Size     int64
	Modified time.Time
}

const schemeS3 = "s3://"

// IsRemote reports whether a location is in a bucket, so that using it needs the network.
func IsRemote(location string) bool { return strings.HasPrefix(location, schemeS3) }

// Open opens the store at a location: a directory, which need not exist, or s3://BUCKET[/PREFIX]. It accesses no
// network.
func Open(location string) (Store, error) {
	switch {
	case location == "":
		return nil, errors.New("the location is empty")
	case IsRemote(location):
		return openBucket(location)
	case strings.Contains(location, "://") || strings.HasPrefix(location, "s3:"):
		return nil, errors.New("the location must be a directory or s3://BUCKET/PREFIX; set AWS_ENDPOINT_URL for a server " +
			"that is not Amazon's")
	}
	return directory(location), nil
}

// Get returns the content of an object that has at most limit bytes.
func Get(ctx context.Context, s Store, name string, limit int64) ([]byte, error) {
	in, err := s.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Fetch returns an object as a local file: that of a directory itself, else a copy in the directory temp. end closes
// the file and removes a copy.
func Fetch(ctx context.Context, s Store, name, temp string) (f *os.File, end func(), err error) {
	in, err := s.Read(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if f, ok := in.(*os.File); ok {
		return f, func() { f.Close() }, nil
	}
	defer in.Close()
	if f, err = CreateTemp(temp, ".copy"); err != nil {
		return nil, nil, err
	}
	end = func() {
		f.Close()
		os.Remove(f.Name())
	}
	_, err = io.Copy(f, in)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return f, end, nil
}

// Temporary begins the names of local files that are not complete.
const Temporary = ".tracegen-"

// CreateTemp makes a local file that is not complete yet, in a directory, or in that of the system if dir is empty. Its
// mode follows the umask, as that of the files of other programs does; [os.CreateTemp] would keep all others out.
func CreateTemp(dir, ending string) (*os.File, error) {
	name := filepath.Join(cmp.Or(dir, os.TempDir()), Temporary+rand.Text()+ending)
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}
