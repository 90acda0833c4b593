import { run } from './program.ts';
import { isServing } from './stop-signal.ts';

/** Exit status of a program that SIGPIPE ends, as shells show it. */
const SIGPIPE_STATUS = 141;

// Progress and warnings may get lost without an effect on the command.
process.stderr.on('error', () => undefined);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A server such as `carillon agent` continues without its output.
  if (isServing()) return;
  // The reader has ended, as `head` does.
  if (error.code === 'EPIPE') process.exit(SIGPIPE_STATUS);
  process.stderr.write(`cannot write the output: ${error.message}\n`);
  process.exit(1);
});

await run(process.argv.slice(2), {
  print: (line) => console.log(line),
  note: (text) => process.stderr.write(text),
  interactive: process.stderr.isTTY === true,
  env: process.env,
  fail: () => {
    process.exitCode = 1;
  },
});
