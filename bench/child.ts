/** Runs one benchmark in a separate process, so that benchmarks do not affect each other. */
import type { Row } from './row.ts';

const [, , name = ''] = process.argv;
const bench: { run(): Promise<readonly Row[]> } = await import(`./${name}.ts`);
const rows = await bench.run();
process.send?.(rows, () => process.exit(0));
