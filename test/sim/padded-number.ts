/** Writes `value` right-aligned over the ten spaces at `offset`. JSON allows spaces before a number. */
export function writePaddedNumber(bytes: Uint8Array, offset: number, value: number): void {
  let rest = value;
  let at = offset + 9;
  do {
    bytes[at] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
    at -= 1;
  } while (rest > 0 && at >= offset);
}
