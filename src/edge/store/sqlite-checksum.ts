/** The checksum of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#checksum_algorithm). */
export type Checksum = readonly [first: number, second: number];

/** Returns the checksum of `bytes`, a multiple of 8, after those whose checksum is `from`. */
export function checksum(bytes: Buffer, from: Checksum, isLittle: boolean): Checksum {
  let [first, second] = from;
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + word(bytes, at, isLittle) + second) >>> 0;
    second = (second + word(bytes, at + 4, isLittle) + first) >>> 0;
  }
  return [first, second];
}

/** Returns the 32-bit word at the position `at`. */
export const word = (bytes: Buffer, at: number, isLittle: boolean): number =>
  isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
