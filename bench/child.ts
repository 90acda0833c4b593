/** One benchmark in a process of its own, so that none warms, fills or slows another. */
import type { Row } from './row.ts';

const [, , name = ''] = process.argv;
const bench: { run(): Promise<readonly Row[]> } = await import(`./${name}.ts`);
const rows = await bench.run();
process.send?.(rows, () => process.exit(0));
