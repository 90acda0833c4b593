/**
 * `npm run profile -- calls [--rates 100] [--seconds 8] [--scenarios whole]`: CPU profile of all threads of a service
 * while SIPp calls through it: V8's profiler in the main thread and every worker, `perf` over everything. Prints self
 * times by area and function; the profiles stay in `build/profiles`. With `--allocations` the bytes that the main thread
 * allocates instead, which differ by a few percent from run to run.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inOwnNetwork } from './calls/own-network.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rates: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '8' },
    scenarios: { type: 'string', default: 'whole' },
    allocations: { type: 'boolean', default: false },
  },
});
if (positionals.length !== 1 || positionals[0] !== 'calls') {
  console.error('what can be profiled: calls');
  process.exit(2);
}
process.env['BENCH_RATES'] = values.rates;
process.env['BENCH_SECONDS'] = values.seconds;
process.env['BENCH_SCENARIOS'] = values.scenarios;
if (values.allocations) process.env['BENCH_ALLOCATIONS'] = '1';
await inOwnNetwork(fileURLToPath(new URL('./profile/main.ts', import.meta.url)));
