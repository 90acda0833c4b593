// SQLite extension: a VFS that stores a checksum in the last 8 bytes of each page of a database file, and
// verifies it whenever SQLite reads the page from the file. The write-ahead log has separate checksums, so
// commits cost nothing; pages get their checksum when a checkpoint copies them. The format is that of
// SQLite's checksum VFS (https://www.sqlite.org/cksumvfs.html).
#include <sqlite3ext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

SQLITE_EXTENSION_INIT1

namespace carillon {

namespace {

constexpr int checksum_bytes = 8;
constexpr int least_page_bytes = 512;
constexpr int header_bytes = 100;
constexpr std::size_t reserved_at = 20;
constexpr char magic[] = "SQLite format 3";
constexpr char vfs_name[] = "carillon";
// Defined by newer headers only.
constexpr int subpage_read = 0x8000;

sqlite3_vfs checked_vfs;

struct CheckedFile {
  sqlite3_file base;
  // True if the pages of the file have checksums. It never becomes false again.
  bool has_checksums;
};

sqlite3_file* inner(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<CheckedFile*>(file) + 1);
}

CheckedFile& checked(sqlite3_file* file) { return *reinterpret_cast<CheckedFile*>(file); }

std::uint32_t word_at(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8U |
         static_cast<std::uint32_t>(at[2]) << 16U | static_cast<std::uint32_t>(at[3]) << 24U;
}

void store_word(std::uint8_t* at, std::uint32_t word) {
  for (unsigned byte = 0; byte < 4; ++byte) at[byte] = static_cast<std::uint8_t>(word >> (8U * byte));
}

// The checksum of the write-ahead log (https://www.sqlite.org/fileformat2.html#checksum_algorithm) over all
// bytes before it.
void compute(const std::uint8_t* page, int bytes, std::uint8_t* out) {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (int at = 0; at < bytes - checksum_bytes; at += 8) {
    first += word_at(page + at) + second;
    second += word_at(page + at + 4) + first;
  }
  store_word(out, first);
  store_word(out + 4, second);
}

bool is_page(int bytes) { return bytes >= least_page_bytes && (bytes & (bytes - 1)) == 0; }

bool is_header(const void* data, int bytes, sqlite3_int64 offset) {
  return offset == 0 && bytes >= header_bytes && std::memcmp(data, magic, sizeof magic) == 0;
}

int read(sqlite3_file* file, void* data, int bytes, sqlite3_int64 offset) {
  sqlite3_file* below = inner(file);
  const int result = below->pMethods->xRead(below, data, bytes, offset);
  if (result != SQLITE_OK) return result;
  CheckedFile& own = checked(file);
  const auto* page = static_cast<const std::uint8_t*>(data);
  if (is_header(data, bytes, offset) && page[reserved_at] == checksum_bytes) own.has_checksums = true;
  if (!own.has_checksums || !is_page(bytes)) return SQLITE_OK;
  std::uint8_t expected[checksum_bytes];
  compute(page, bytes, expected);
  const bool is_intact = std::memcmp(page + bytes - checksum_bytes, expected, checksum_bytes) == 0;
  return is_intact ? SQLITE_OK : SQLITE_IOERR_DATA;
}

int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
  CheckedFile& own = checked(file);
  const auto* page = static_cast<const std::uint8_t*>(data);
  if (is_header(data, bytes, offset) && page[reserved_at] == checksum_bytes) own.has_checksums = true;
  // SQLite does not use the reserved bytes of its buffer.
  if (own.has_checksums && is_page(bytes))
    compute(page, bytes, const_cast<std::uint8_t*>(page) + bytes - checksum_bytes);
  sqlite3_file* below = inner(file);
  return below->pMethods->xWrite(below, data, bytes, offset);
}

int close(sqlite3_file* file) { return inner(file)->pMethods->xClose(inner(file)); }
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  return inner(file)->pMethods->xTruncate(inner(file), size);
}
int sync(sqlite3_file* file, int flags) { return inner(file)->pMethods->xSync(inner(file), flags); }
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return inner(file)->pMethods->xFileSize(inner(file), size);
}
int lock(sqlite3_file* file, int level) { return inner(file)->pMethods->xLock(inner(file), level); }
int unlock(sqlite3_file* file, int level) { return inner(file)->pMethods->xUnlock(inner(file), level); }
int check_reserved_lock(sqlite3_file* file, int* out) {
  return inner(file)->pMethods->xCheckReservedLock(inner(file), out);
}
int file_control(sqlite3_file* file, int operation, void* argument) {
  return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}
int sector_size(sqlite3_file* file) { return inner(file)->pMethods->xSectorSize(inner(file)); }
// A part of a page cannot be verified.
int device_characteristics(sqlite3_file* file) {
  return inner(file)->pMethods->xDeviceCharacteristics(inner(file)) & ~subpage_read;
}
int shm_map(sqlite3_file* file, int page, int bytes, int extend, void volatile** out) {
  return inner(file)->pMethods->xShmMap(inner(file), page, bytes, extend, out);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { inner(file)->pMethods->xShmBarrier(inner(file)); }
int shm_unmap(sqlite3_file* file, int remove) {
  return inner(file)->pMethods->xShmUnmap(inner(file), remove);
}
// Mapped pages cannot be verified, so that no page is mapped.
int fetch(sqlite3_file*, sqlite3_int64, int, void** out) {
  *out = nullptr;
  return SQLITE_OK;
}
int unfetch(sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; }

constexpr sqlite3_io_methods methods = {
    3,
    close,
    read,
    write,
    truncate,
    sync,
    file_size,
    lock,
    unlock,
    check_reserved_lock,
    file_control,
    sector_size,
    device_characteristics,
    shm_map,
    shm_lock,
    shm_barrier,
    shm_unmap,
    fetch,
    unfetch,
};

sqlite3_vfs* below_of(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* below = below_of(vfs);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return below->xOpen(below, name, file, flags, out_flags);
  new (file) CheckedFile{};
  const int result = below->xOpen(below, name, inner(file), flags, out_flags);
  if (result == SQLITE_OK) file->pMethods = &methods;
  return result;
}

// SQL function store_checksums(): new databases and copies made by VACUUM have room for checksums.
void store_checksums(sqlite3_context* context, int, sqlite3_value**) {
  int bytes = checksum_bytes;
  sqlite3_file_control(sqlite3_context_db_handle(context), "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

// SQL function has_checksums(): whether the pages of the open database have checksums.
void has_checksums(sqlite3_context* context, int, sqlite3_value**) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(sqlite3_context_db_handle(context), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  const bool has = file != nullptr && file->pMethods == &methods && checked(file).has_checksums;
  sqlite3_result_int(context, has ? 1 : 0);
}

int define_functions(sqlite3* db, const char**, const sqlite3_api_routines*) {
  constexpr int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  const int result =
      sqlite3_create_function(db, "has_checksums", 0, flags, nullptr, has_checksums, nullptr, nullptr);
  if (result != SQLITE_OK) return result;
  return sqlite3_create_function(db, "store_checksums", 0, flags, nullptr, store_checksums, nullptr, nullptr);
}

// Makes the VFS the default of the process. Methods that need no file are those of the VFS below; they ignore
// their argument or use its pAppData only for files, which `open` passes on.
int register_once() {
  sqlite3_vfs* below = sqlite3_vfs_find(nullptr);
  if (below == nullptr) return SQLITE_ERROR;
  checked_vfs = *below;
  checked_vfs.pNext = nullptr;
  checked_vfs.zName = vfs_name;
  checked_vfs.pAppData = below;
  checked_vfs.szOsFile = below->szOsFile + static_cast<int>(sizeof(CheckedFile));
  checked_vfs.xOpen = open;
  return sqlite3_vfs_register(&checked_vfs, 1);
}

// Threads of the process may load the extension at the same time.
int register_vfs() {
  static const int result = register_once();
  return result;
}

}  // namespace

}  // namespace carillon

// Entry point of sqlite3_load_extension().
extern "C" __attribute__((visibility("default"))) int sqlite3_carillon_init(sqlite3*, char**,
                                                                            const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  using Entry = void (*)();
  const int result = carillon::register_vfs();
  if (result != SQLITE_OK) return result;
  sqlite3_auto_extension(reinterpret_cast<Entry>(carillon::define_functions));
  return SQLITE_OK_LOAD_PERMANENTLY;
}
