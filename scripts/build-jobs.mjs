// Number of compilers that run at a time. Without a number, make would start one for every file.
import { availableParallelism, totalmem } from 'node:os';

/** Memory that one compiler needs at most, in bytes. */
const COMPILER_BYTES = 700e6;

/** Options of `cmake --build`. */
export const BUILD_JOBS = [
  '--parallel',
  String(Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / COMPILER_BYTES)))),
];
