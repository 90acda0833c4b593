import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../bench/calls/service.ts';
import { examineSettings } from '../../src/config/load.ts';

describe('settings of the benchmarked service', () => {
  it('are accepted by the service', () => {
    expect(examineSettings(SETTINGS, 'config/default.json').problems).toEqual([]);
  });
});
