// Preloaded into a node: shifts its wall clock by WRONG_CLOCK_MS, or by the number in the file WRONG_CLOCK_FILE, which may change.
// Durations use the monotonic clock and stay unaffected.
import { readFileSync } from 'node:fs';

const CHECK_MS = 100;
const file = process.env.WRONG_CLOCK_FILE;
const RightDate = Date;
let wrongMs = Number(process.env.WRONG_CLOCK_MS ?? 0);

function read() {
  try {
    wrongMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // The file is being replaced.
  }
}
if (file !== undefined) {
  read();
  setInterval(read, CHECK_MS).unref();
}

globalThis.Date = class WrongDate extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + wrongMs);
    else super(...given);
  }

  static now() {
    return RightDate.now() + wrongMs;
  }
};
