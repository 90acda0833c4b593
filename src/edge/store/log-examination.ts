/**
 * Examines the write-ahead log of a database before SQLite opens it. SQLite drops everything after the first frame whose
 * checksum is wrong, without a report (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
 */
import { closeSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import { endianness } from 'node:os';
import type { Synchronous } from './sqlite.ts';
import { type Checksum, checksum, word } from './sqlite-checksum.ts';

/** Commits of the log that SQLite would drop. */
export interface LostCommits {
  /** Number of dropped commits, as far as they can be counted; at least 1. */
  readonly count: number;
  /** False if a power failure may have caused the loss, which `store.synchronous=normal` permits. */
  readonly isDamage: boolean;
}

interface WalIndex {
  readonly frames: number;
  readonly salts: Buffer;
}

interface LogFrames {
  readonly isHeaderIntact: boolean;
  readonly salts: Buffer;
  /** Number of the last commit frame that SQLite recovers, starting at 1. */
  readonly recovered: number;
  /** Numbers of the later commit frames that belong to the log, intact or not. */
  readonly later: readonly number[];
  /** Number of those that are intact and follow an intact frame. Frames of a transaction that was undone contain none. */
  readonly intactLater: number;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALTS_AT = 16;
const FRAME_SALTS_AT = 8;
const FRAME_CHECKSUM_AT = 16;
const LITTLE_ENDIAN_MAGIC = 0x377f0682;
const BIG_ENDIAN_MAGIC = 0x377f0683;
const PAGE_BYTES = 4096;
/** Frames read in one operation. */
const CHUNK_FRAMES = 256;
/** Layout of the two headers of the index in shared memory (https://www.sqlite.org/walformat.html#the_wal_index_file_format). */
const INDEX_HEADER_BYTES = 48;
const INDEX_FRAMES_AT = 16;
const INDEX_SALTS_AT = 32;
const INDEX_CHECKSUM_AT = 40;

/** File that names the start of the operating system in which the database was last opened. */
export const bootFileOf = (file: string): string => `${file}.boot`;

/** Records that the database is open since this start of the operating system. */
export function rememberBoot(file: string): void {
  try {
    writeFileSync(bootFileOf(file), bootId() ?? '', { mode: 0o600 });
  } catch {
    // The store reports a disk that cannot be written. Until it can, the log is the only evidence.
  }
}

/**
 * Returns the commits that SQLite would drop. The index in shared memory counts the frames of all commits and survives a killed
 * process. After a restart of the operating system, only the log itself is evidence: commits that follow a damaged frame.
 */
export function examineLog(file: string, synchronous: Synchronous): LostCommits | undefined {
  const boot = bootId();
  const isSameBoot = boot !== undefined && readText(bootFileOf(file)) === boot;
  const index = isSameBoot ? readIndex(`${file}-shm`) : undefined;
  const log = readLog(`${file}-wal`);
  if (index !== undefined) return index.frames === 0 ? undefined : compare(index, log);
  if (log === undefined || log.intactLater === 0) return undefined;
  const count = log.later.length;
  // With `full`, a power failure can damage the last commit only.
  return { count, isDamage: isSameBoot || (synchronous === 'full' && count > 1) };
}

function compare(index: WalIndex, log: LogFrames | undefined): LostCommits | undefined {
  const isSameLog = log?.isHeaderIntact === true && log.salts.equals(index.salts);
  if (isSameLog && log.recovered >= index.frames) return undefined;
  const count = log?.later.filter((frame) => frame <= index.frames).length ?? 0;
  return { count: Math.max(1, count), isDamage: true };
}

function bootId(): string | undefined {
  return readText('/proc/sys/kernel/random/boot_id')?.trim();
}

function readText(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false }) === undefined
    ? undefined
    : readFileSync(path, 'utf8');
}

/** Returns the newest intact header of the index. SQLite writes the second copy first. */
function readIndex(path: string): WalIndex | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const bytes = readFileSync(path).subarray(0, 2 * INDEX_HEADER_BYTES);
  if (bytes.length < 2 * INDEX_HEADER_BYTES) return undefined;
  const isLittle = endianness() === 'LE';
  for (const at of [INDEX_HEADER_BYTES, 0]) {
    const header = bytes.subarray(at, at + INDEX_HEADER_BYTES);
    const sum = checksum(header.subarray(0, INDEX_CHECKSUM_AT), [0, 0], isLittle);
    const isIntact = word(header, INDEX_CHECKSUM_AT, isLittle) === sum[0];
    if (!isIntact || word(header, INDEX_CHECKSUM_AT + 4, isLittle) !== sum[1]) continue;
    if (word(header, 0, isLittle) === 0) continue; // SQLite has not written it yet
    const salts = header.subarray(INDEX_SALTS_AT, INDEX_SALTS_AT + 8);
    return { frames: word(header, INDEX_FRAMES_AT, isLittle), salts };
  }
  return undefined;
}

function readLog(path: string): LogFrames | undefined {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes <= HEADER_BYTES) return undefined;
  const descriptor = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(descriptor, header, 0, HEADER_BYTES, 0);
    return walk(header, framesOf(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

function* framesOf(descriptor: number): Generator<Buffer> {
  const frameBytes = FRAME_HEADER_BYTES + PAGE_BYTES;
  const chunk = Buffer.alloc(CHUNK_FRAMES * frameBytes);
  for (let at = HEADER_BYTES; ; at += chunk.length) {
    const read = readSync(descriptor, chunk, 0, chunk.length, at);
    for (let from = 0; from + frameBytes <= read; from += frameBytes)
      yield chunk.subarray(from, from + frameBytes);
    if (read < chunk.length) return;
  }
}

function walk(header: Buffer, frames: Iterable<Buffer>): LogFrames {
  const isLittle = header.readUInt32BE(0) !== BIG_ENDIAN_MAGIC;
  const isHeaderIntact = isIntactHeader(header, isLittle);
  let salts = isHeaderIntact ? header.subarray(SALTS_AT, SALTS_AT + 8) : undefined;
  let previous: Checksum = [header.readUInt32BE(24), header.readUInt32BE(28)];
  let isChain = isHeaderIntact;
  let [number, recovered, intactLater] = [0, 0, 0];
  const later: number[] = [];
  for (const frame of frames) {
    number += 1;
    const ownSalts = frame.subarray(FRAME_SALTS_AT, FRAME_SALTS_AT + 8);
    salts ??= Buffer.from(ownSalts);
    const sum = checksum(
      frame.subarray(FRAME_HEADER_BYTES),
      checksum(frame.subarray(0, FRAME_SALTS_AT), previous, isLittle),
      isLittle,
    );
    previous = [frame.readUInt32BE(FRAME_CHECKSUM_AT), frame.readUInt32BE(FRAME_CHECKSUM_AT + 4)];
    const isOfLog = ownSalts.equals(salts);
    const isIntact = isOfLog && sum[0] === previous[0] && sum[1] === previous[1];
    const isCommit = frame.readUInt32BE(4) !== 0;
    isChain &&= isIntact;
    if (isChain && isCommit) recovered = number;
    else if (!isChain && isCommit && isOfLog) {
      later.push(number);
      if (isIntact) intactLater += 1;
    }
  }
  return { isHeaderIntact, salts: salts ?? Buffer.alloc(0), recovered, later, intactLater };
}

function isIntactHeader(header: Buffer, isLittle: boolean): boolean {
  const magic = header.readUInt32BE(0);
  if (magic !== LITTLE_ENDIAN_MAGIC && magic !== BIG_ENDIAN_MAGIC) return false;
  const sum = checksum(header.subarray(0, 24), [0, 0], isLittle);
  return header.readUInt32BE(24) === sum[0] && header.readUInt32BE(28) === sum[1];
}
