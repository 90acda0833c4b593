import { run } from './program.ts';

await run(process.argv.slice(2), {
  print: (line) => console.log(line),
  note: (text) => process.stderr.write(text),
  interactive: process.stderr.isTTY === true,
  env: process.env,
  fail: () => {
    process.exitCode = 1;
  },
});
