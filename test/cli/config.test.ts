import { expect, it } from 'vitest';
import { TestTerminal } from './terminal.ts';

it('carillon config check names each problem once', async () => {
  const terminal = new TestTerminal();
  const body = 'carriers: [{ name: main, host: gw.example, source_addresses: [10.0.0.300] }]';
  await terminal.run(['config', 'check'], { CARILLON_CONFIG_BODY: body });
  expect(terminal.failed).toBe(true);
  expect(terminal.notes.trim().split('\n')).toEqual([
    expect.stringContaining('carriers[0]: source_addresses has 10.0.0.300'),
  ]);
});
